-- Declares command line options of scripts that keep their training runs in a store, and chooses the paths of stores.
local mr = require "moonrank"
local core = require "moonrank.core"
local exit = require("moonrank.system.exit").exit
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"
local memory = require "moonrank.system.memory"
local paths = require "moonrank.system.paths"
local store = require "moonrank.sweep.store"
local threads = require "moonrank.system.threads"

local M = {}

-- Returns the folder of stores: MOONRANK_RESULTS, or a folder in the user's data folder, which outlives a checkout.
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

-- Returns the reason why a file is not a store, e.g. a text file; nil if it is a store or does not exist.
local function against_content(path)
  local ok, why = check.attempt(store.look, path)
  return not ok and check.reason(why) or nil
end

-- Ends the script if the path of its store is not the path of a file, if the file is not a store, or if it cannot be
-- written although runs may be made. Scripts call this before they read data. `source` names what chose the path, such
-- as the option --store, for the error message.
local function check_store(path, source, only_reads)
  local objection = paths.objection("new file", path) or against_content(path)
    or not only_reads and paths.unwritable(path)
  if objection then
    exit(2, ("%s: %s%s"):format(source, objection:find(path, 1, true) and "" or path .. ": ", objection))
  end
end

---Ends the script with status 2 if the default stores of documents cannot be written, or cannot be
---read under --kept. A script that runs several other scripts calls this before it begins.
---@param args table  option values with `smoke` and `kept`, as from `mr.experiment.args`
---@param documents string[]  short names of documents, as in the options of `mr.experiment.args`
function M.check_stores(args, documents)
  given.need("check_stores", "args", args, "table", "option values, as from mr.experiment.args")
  given.array("check_stores", "documents", documents, "string", "short names of documents")
  for _, document in ipairs(documents) do
    check_store(store_of(args, document), args.smoke and "results" or "MOONRANK_RESULTS", args.kept)
  end
end

local fit_options = declare("mr.experiment.FitWorkersOptions", {
  { "advice", "string", default = "Use less data", help = "what to do instead, in the error" },
  { "available", "number", above = 0, shown = "as measured", help = "bytes of free memory" },
})

local args_options = declare("mr.experiment.ArgsOptions", {
  { "document", "string", required = true,
    help = "short name of the document or the study of your own; the default store is DOCUMENT/runs.db" },
  { "smoke", "table<string, any>", shown = "none", help = "values of the script's own options under --smoke" },
})

---Parses the command line of a script that keeps its training runs in a store. The options are the
---script's own, and:
---
---- `--store FILE`: where runs are kept. The default is DOCUMENT/runs.db in the folder MOONRANK_RESULTS,
---  or in the user's data folder.
---- `--kept`: show kept runs, and make no new runs.
---- `--workers`, `--retry`, `--force`, `--mix-numerics`: as in `mr.sweep`.
---- `--data FOLDER`: folder of data sets.
---- `--smoke`: made-up data and short runs, in a store of their own. `made_up` of the result is then true.
---
---The result has the value of each option, and is passed on to the other functions of this module.
---@param own table  declarations of the script's own options, as in mr.args; the store's options are added to it
---@param o mr.experiment.ArgsOptions
---@param words? string[]  the words of the command line (default: those of the script)
---@return table
---Example: `mr.experiment.args({epochs = 20}, {document = "example"}, {"--epochs", "5"}).epochs   --> 5`
function M.args(own, o, words)
  o = args_options:read("mr.experiment.args", o)
  given.need("args", "own", own, "table", "a table of options: {epochs = 20}")
  if words ~= nil then given.array("args", "words", words, "string", "texts") end
  own.store = { path = "new file", type = "string", placement = true,
    help = "where runs are kept; missing ones are made",
    shown = o.document .. "/runs.db in MOONRANK_RESULTS or the user's data folder" }
  own.workers = { type = "integer", least = 0, placement = true,
    help = "number of processes for missing runs; 0 uses this process", shown = "one per core" }
  own.data = own.data or { path = "data folder", default = "",
    help = "folder of ml-latest-small, mq2008 and others", shown = "where the program looks for data" }
  own.force = { default = false, placement = true,
    help = "use kept runs although scripts or data have changed; changed settings stay an error" }
  own.retry = { default = 0, least = 0, placement = true,
    help = "how often a run that failed or was killed is tried again" }
  own.mix_numerics = { default = false, placement = true,
    help = "use kept runs of another numerics version" }
  own.kept = { default = false, placement = true, ignores = { "workers", "force", "retry", "mix_numerics" },
    help = "show kept runs, and make no new runs" }
  own.smoke = { default = false, sets = o.smoke or {}, ignores = { "data" },
    help = "test the script with made-up data, one fold and few epochs" }
  if own.out then own.out.placement = true end
  local args = mr.args(own, words)
  if args.store then
    check_store(args.store, "--store", args.kept)
  else
    M.check_stores(args, { o.document })
  end
  if args.kept and args.data ~= "" then
    check.warn "--kept shows the runs that are kept, of whatever data: they are not compared with those of --data"
  end
  args.store = args.store or store_of(args, o.document)
  args.made_up = args.smoke
  args.studies = {}
  return args
end

---Adds the options of a script's figure to its own options, and returns them: `--out FILE`, the file of
---the figure, and `--show`, which draws it in the terminal as well. `mr.experiment.finish` reads both.
---@param own table  declarations of the script's own options, as in mr.args
---@param path string  default file of the figure
---@return table
---Example:
---```lua
---local own = mr.experiment.figure_options({epochs = 20}, "results/curves.svg")
---local args = mr.experiment.args(own, {document = "example"}, {"--show"})
---args.out, args.show   --> results/curves.svg, true
---```
function M.figure_options(own, path)
  given.need("figure_options", "own", own, "table", "a table of options: {epochs = 20}")
  given.need("figure_options", "path", path, "string", "the default file of the figure")
  own.out = { path = "output file", default = path, endings = { ".svg", ".png", ".pdf" }, help = "file of the figure" }
  own.show = { default = false, help = "draw the figure in the terminal as well" }
  return own
end

---Limits the processes of an experiment to the number that fits into memory. Without --workers,
---`args.workers` becomes this number if it is below the number of cores, and a line is printed. If not
---even one process fits, or --workers asks for more than fit, an error names the options.
---@param args table  option values, as from `mr.experiment.args`
---@param where string  what needs the memory: "table 2"
---@param what string   the options that decide how much: "--size 100 with 120 images"
---@param bytes number  estimated memory of one process
---@param o? mr.experiment.FitWorkersOptions
---Example:
---```lua
---local args = {workers = 2}
---mr.experiment.fit_workers(args, "table 2", "--size 100", 2^20, {available = 2^30})
---args.workers   --> 2
---```
function M.fit_workers(args, where, what, bytes, o)
  given.need("fit_workers", "args", args, "table", "option values, as from mr.experiment.args")
  given.need("fit_workers", "where", where, "string", "what needs the memory")
  given.need("fit_workers", "what", what, "string", "the options that decide how much")
  given.need("fit_workers", "bytes", bytes, "number", "the bytes of one process")
  o = fit_options:read("mr.experiment.fit_workers", o)
  local asked, free, cores = rawget(args, "workers"), o.available or core.available_bytes(), threads.threads()
  local processes = asked or math.tointeger(math.min(cores, math.max(1, free // bytes)))
  local advice = o.advice
  if processes > 1 then
    what, advice = ("%s and --workers %d"):format(what, processes), advice .. ", or fewer --workers"
  end
  memory.need(where, what, math.max(1, processes) * bytes, advice, free)
  if processes >= cores or asked then return end
  args.workers = processes
  print(("%d of %d processes run at once, because each may need %.1f GiB of memory."):format(processes, cores,
    bytes / 2 ^ 30))
end

---Returns the store's options (--store, --data, --workers, ...) with the values that
---`mr.experiment.args` read, as words of a command line, for a script that this script runs. Without
---`args.store`, the other script uses its own default store.
---@param args table  option values
---@param more? table<string, any>  further options of the other script, by name; false ones are left out
---@return string[]
---Example: `table.concat(mr.experiment.words({store = "s.db"}, {epochs = 3}), " ")   --> --store s.db --epochs 3`
function M.words(args, more)
  given.need("words", "args", args, "table", "option values, as from mr.experiment.args")
  if more ~= nil then given.need("words", "more", more, "table", "options by name") end
  local words, asked = args.store and { "--store", args.store } or {}, { workers = args.workers, device = args.device }
  asked.data = not args.smoke and args.data ~= "" and args.data or nil
  asked.retry = math.type(args.retry) and args.retry > 0 and args.retry or nil
  for name, value in pairs(more or {}) do asked[name] = value or nil end
  local names = {}
  for name in pairs(asked) do names[#names + 1] = tostring(name) end
  table.sort(names)
  for _, name in ipairs(names) do table.move({ "--" .. name, tostring(asked[name]) }, 1, 2, #words + 1, words) end
  for _, name in ipairs{ "force", "mix_numerics", "kept", "smoke" } do
    if args[name] then words[#words + 1] = "--" .. name:gsub("_", "-") end
  end
  return words
end

return M
