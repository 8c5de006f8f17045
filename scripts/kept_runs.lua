-- Functions for scripts that keep their training runs in a store: declare the options of the store, pass options on
-- to another script, and make or read a study (a named set of training runs).
local mr = require "moonrank"
local core = require "moonrank.core"
local space, studies = require "moonrank.sweep.space", require "moonrank.sweep.study"

local M = {}

---Makes a table that caches, by text or number, what was read or computed once. Scripts need this table
---because a stored study (set of training runs) is compared with the values that its functions use:
---changed values would count as a change of the experiment. Weak tables such as this one are ignored in
---this comparison. Text and number keys are never garbage-collected, so nothing is lost.
---@return table
function M.cache() return setmetatable({}, { __mode = "k" }) end

-- Returns the folder of stores, which survive the deletion of a checkout: MOONRANK_RESULTS, or a folder in the
-- user's data folder.
local function results_folder()
  local own, data, home = os.getenv "MOONRANK_RESULTS", os.getenv "XDG_DATA_HOME", os.getenv "HOME"
  if own and own ~= "" then return own end
  if data and data ~= "" then return data .. "/moonrank/results" end
  return home and home ~= "" and home .. "/.local/share/moonrank/results" or "results"
end

-- Returns the default path of the store of a document's (paper's) training runs. Runs on made-up data (--smoke) are
-- kept in results/ beside the figures, real runs in the folder of stores.
local function store_of(args, document)
  if args.smoke then return ("results/%s/smoke.db"):format(document) end
  return ("%s/%s/runs.db"):format(results_folder(), document)
end

---Parses the command line of a script: its own options, and those of the store of training runs
---(--store, --kept, --workers, ...). Returns the values of all options.
---@param own table  declarations as in mr.args; "data" is added if it is missing
---@param o { document: string, smoke?: table<string, any> }  name of the store, "thesis"; option values under --smoke
function M.args(own, o)
  own.store = { path = "new file", type = "string",
    help = ("where runs are kept; missing ones are made (default %s/runs.db in MOONRANK_RESULTS)"):format(o.document) }
  own.workers = { type = "integer", least = 0,
    help = "processes for runs that are missing (default: one per core); 0: this one" }
  own.data = own.data or { path = "data folder", default = "",
    help = "folder of ml-latest-small, mq2008 and others (default: where the program looks for data)" }
  own.force = { default = false,
    help = "go on with kept runs although scripts or data have changed; other settings stay an error" }
  own.retry = { default = 0, least = 0, help = "how often runs that failed or were killed are tried again" }
  own.mix_numerics = { default = false, help = "go on with kept runs although they were made under other numerics" }
  own.kept = { default = false, ignores = { "workers", "force", "retry", "mix_numerics" },
    help = "read the runs that are there, and make none" }
  own.smoke = { default = false, sets = o.smoke or {}, ignores = { "data" },
    help = "made-up data, one fold, two epochs: to see that it runs" }
  local args = mr.args(own)
  args.store = args.store or store_of(args, o.document)
  args.made_up = args.smoke
  args.studies = {}
  return args
end

---Returns the options that `M.args` read as words of a command line, for a script that this script
---runs. Without --store, the other script uses its own default store.
---@param args table  option values, as from M.args
---@param more? table<string, any>  options that only the other script has; nil and false are left out
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
  for _, name in ipairs{ "force", "mix_numerics", "kept", "smoke" } do
    if args[name] then words[#words + 1] = "--" .. name end
  end
  return words
end

-- Returns the name under which the store has a study (a set of training runs). The name says so if the data are made
-- up.
local function name_of(args, name) return name .. (args.made_up and ", made-up data" or "") end

---Returns how many training runs of a study have ended (finished, stopped early or failed), and how
---many are planned.
---@param results mr.Results
---@return integer  ended
---@return integer  planned
function M.progress(results)
  local counts, ended = results:counts(), 0
  for _, state in ipairs{ "done", "pruned", "failed", "killed" } do ended = ended + (counts[state] or 0) end
  return ended, results.study.planned or ended
end

-- Prefix of the error for missing training runs under --kept, which forbids to make them. A report that includes the
-- script recognises the error by this prefix (sections.lua).
local lacking = "--kept: "

---Ends a script with an error because training runs are missing and --kept forbids to make them.
---@param message string  what is missing
function M.lack(message) error(core.exit(2, lacking .. message), 0) end

---Returns the message given to `M.lack` if `problem` is the error that `M.lack` raised, and nil for
---other errors.
---@param problem any  error that ended a script
---@return string?
function M.lacked(problem)
  local text = tostring(problem)
  return text:sub(1, #lacking) == lacking and text:sub(#lacking + 1) or nil
end

-- Returns the study (set of training runs) of this name from the store, or nil if the store or the study does not
-- exist. Any other problem ends the script with an error.
local function found_in_store(args, name)
  local ok, found = pcall(mr.results, args.store, name_of(args, name))
  if ok then return found end
  local why = tostring(found)
  if not why:find("unknown study in", 1, true) and not why:find "is not there$" then
    error(core.exit(1, (why:gsub("^[^:\n]*:%d+: ", ""))), 0)
  end
end

-- Adds a study (set of stored training runs) to the list of studies that the script read. figure.finish prints below
-- the script's results which studies they come from.
local function noted(args, results)
  if args.studies then args.studies[#args.studies + 1] = results end
  return results
end

---Returns the study (set of stored training runs) of this name as it is in the store, or nil if it does
---not exist. It does not matter which script made its runs. If the study has another search space or
---other settings, the script ends with an error, because it would show the study's results as its own.
---@param args table  option values, as from M.args
---@param o { name: string, settings: table, space: table }  as in M.study
---@return mr.Results?
function M.there(args, o)
  local found = found_in_store(args, o.name)
  if not found then return nil end
  if found.study.space ~= space.new(o.space):describe()
    or found.study.settings ~= studies.settings_text(o.settings) then
    M.lack(("%s has runs of '%s' by other options; with those of then they are shown"):format(args.store, found.name))
  end
  return noted(args, found)
end

-- Returns the study (set of stored training runs) of this name if the store has all its planned runs. Ends the
-- script with an error otherwise.
local function whole(args, o)
  local found = M.there(args, o)
  if not found then
    M.lack(("%s has none of the runs of '%s'; without --kept they are made"):format(args.store, name_of(args, o.name)))
  end
  local ended, planned = M.progress(found)
  if ended < planned then
    M.lack(("%s has %d of %d runs of '%s'; without --kept the others are made"):format(
      args.store, ended, planned, found.name))
  end
  return found
end

-- Raises an error if --force is given but the stored training runs have other settings, such as the number of
-- epochs. The script would otherwise print their results as results of the settings that were asked for.
local function check_settings(args, o)
  local found, now = found_in_store(args, o.name), studies.settings_text(o.settings)
  if not found or found.study.settings == now then return end
  error(core.exit(1,
    ("--force: %s has runs of '%s' with other settings:\n  %s\nPass the options of the kept runs, or another "
      .. "store (--store)"):format(args.store, found.name,
        core.safe_text(studies.difference(found.study.settings, now), true))), 0)
end

---Returns a study: the results of a named set of training runs. Runs that are not in the store yet are
---made first. With --kept nothing is trained, and missing runs are an error.
---@param args table  option values, as from M.args
---@param o { name: string, settings: table, space: table, run: function, metric?: string }  as in mr.sweep
---@return mr.Results
function M.study(args, o)
  if args.kept then return whole(args, o) end
  if args.force then check_settings(args, o) end
  return noted(args, mr.sweep{
    name = name_of(args, o.name), store = args.store, workers = args.workers, force = args.force, retry = args.retry,
    mix_numerics = args.mix_numerics, metric = o.metric or "valid", direction = "maximize", settings = o.settings,
    space = o.space, run = o.run,
  })
end

return M
