-- What scripts have in common that keep their training runs in a store: options, their words for another script, and a study.
local mr = require "moonrank"

local M = {}

---Options of a script beside its own: where runs are and how those that are missing are made.
---@param own table  as in mr.args; "data" is taken from here where it is there
---@param o { folder: string, smoke?: table<string, any> }  of the store ("results/thesis"); which of its own --smoke sets
function M.args(own, o)
  own.store = { path = "new file", type = "string",
    help = ("where runs are kept; those that are missing are made (default %s/runs.db; smoke.db there with --smoke)"):format(o.folder) }
  own.workers = { type = "integer", least = 0, help = "processes for runs that are missing (default: one per core); 0: this one" }
  own.data = own.data or { path = "data folder", default = "",
    help = "folder of ml-latest-small, mq2008 and others (default: where the program looks for data)" }
  own.force = { default = false, help = "go on with kept runs although scripts or data have changed" }
  own.retry = { default = 0, least = 0, help = "how often runs that failed or were killed are tried again" }
  own.mix_numerics = { default = false, help = "go on with kept runs although they were made under other numerics" }
  own.smoke = { default = false, sets = o.smoke or {}, ignores = { "data" },
    help = "made-up data, one fold, two epochs: to see that it runs" }
  local args = mr.args(own)
  args.store = args.store or ("%s/%s.db"):format(o.folder, args.smoke and "smoke" or "runs")
  args.made_up = args.smoke
  return args
end

---The options of `M.args` as words, for another script, which has a store of its own where none is named.
---@param args table
---@param more? table<string, any>  options of the scripts' own; nil and false are left out
---@return string[]
function M.words(args, more)
  local words, asked = args.store and { "--store", args.store } or {}, { workers = args.workers, device = args.device }
  asked.data = not args.smoke and args.data ~= "" and args.data or nil
  asked.retry = args.retry and args.retry > 0 and args.retry or nil
  for name, value in pairs(more or {}) do asked[name] = value or nil end
  local names = {}
  for name in pairs(asked) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do table.move({ "--" .. name, tostring(asked[name]) }, 1, 2, #words + 1, words) end
  for _, name in ipairs{ "force", "mix_numerics", "smoke" } do
    if args[name] then words[#words + 1] = "--" .. name end
  end
  return words
end

---A study in the store, of made-up data under a name that says so.
---@param args table
---@param o { name: string, settings: table, space: table, run: function, metric?: string }  as in mr.sweep
---@return mr.Results
function M.study(args, o)
  return mr.sweep{
    name = o.name .. (args.made_up and ", made-up data" or ""), store = args.store, workers = args.workers, force = args.force,
    retry = args.retry, mix_numerics = args.mix_numerics, metric = o.metric or "valid", settings = o.settings, space = o.space, run = o.run,
  }
end

return M
