-- Functions for scripts that keep their training runs in a store: declare the options of the store, pass options on
-- to another script, and make or read a study (a named set of training runs).
local mr = require "moonrank"
local core = require "moonrank.core"
local check = require "moonrank.check"
local forced = require "moonrank.sweep.forced"
local paths = require "moonrank.system.paths"
local space, studies = require "moonrank.sweep.space", require "moonrank.sweep.study"

local M = {}

---Returns an empty table in which a script caches, by text or number, what it read or computed
---once. Scripts need this table because a stored study (set of training runs) is compared with the
---values that its functions use: changed values would count as a change of the experiment. Weak
---tables such as this one are ignored in this comparison. Text and number keys are never
---garbage-collected, so nothing is lost.
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

-- Returns why a store cannot be written at a path, or nil if it can. A missing store can be written if a file can be
-- made in the nearest folder above it that exists.
local function against_writing(path)
  local above = path
  while not core.file_exists(above) do above = above:match "^(.*)/[^/]*$" or "." end
  if above == "" then above = "/" end
  local is_there = above == path
  local own = core.sha256(("%.17g"):format(core.clock())):sub(1, 8)
  local probe = is_there and path or ("%s/.moonrank-%s"):format(above, own)
  local file, why = io.open(probe, is_there and "r+b" or "wb")
  if not file then return ("%s: cannot be written (%s)"):format(path, tostring(why):match "[^:]*$":sub(2)) end
  file:close()
  if not is_there then os.remove(probe) end
end

-- Ends the script if the path of its store is not the path of a file, or if the store cannot be written although runs
-- may be made. Scripts call this before they read data. `source` is what chose the path.
local function check_store(path, source, only_reads)
  local objection = paths.objection("new file", path) or not only_reads and against_writing(path)
  if objection then
    error(core.exit(2, ("%s: %s%s"):format(source, objection:find(path, 1, true) and "" or path .. ": ", objection)), 0)
  end
end

---Ends the script if the default stores of documents cannot be written, or not read under --kept.
---@param args table  with `smoke` and `kept`
---@param documents string[]
function M.check_stores(args, documents)
  for _, document in ipairs(documents) do
    check_store(store_of(args, document), args.smoke and "results" or "MOONRANK_RESULTS", args.kept)
  end
end

---Parses the command line of a script: its own options, and those of the store of training runs
---(--store, --kept, --workers, ...). Returns the values of all options.
---@param own table  declarations of the script's own options, as in mr.args; the store's options are added to it
---@param o { document: string, smoke?: table<string, any> }  document: short name, "thesis", which names the store;
---   smoke: values of options under --smoke
---@return table
function M.args(own, o)
  own.store = { path = "new file", type = "string", placement = true,
    help = "where runs are kept; missing ones are made", shown = o.document .. "/runs.db in MOONRANK_RESULTS" }
  own.workers = { type = "integer", least = 0, placement = true,
    help = "processes for runs that are missing; 0: this one", shown = "one per core" }
  own.data = own.data or { path = "data folder", default = "",
    help = "folder of ml-latest-small, mq2008 and others", shown = "where the program looks for data" }
  own.force = { default = false, placement = true,
    help = "go on with kept runs although scripts or data have changed; other settings stay an error" }
  own.retry = { default = 0, least = 0, placement = true,
    help = "how often runs that failed or were killed are tried again" }
  own.mix_numerics = { default = false, placement = true,
    help = "go on with kept runs although they were made under other numerics" }
  own.kept = { default = false, placement = true, ignores = { "workers", "force", "retry", "mix_numerics" },
    help = "read the runs that are there, and make none" }
  own.smoke = { default = false, sets = o.smoke or {}, ignores = { "data" },
    help = "made-up data, one fold, two epochs: to see that it runs" }
  if own.out then own.out.placement = true end
  local args = mr.args(own)
  if args.store then
    check_store(args.store, "--store", args.kept)
  else
    M.check_stores(args, { o.document })
  end
  args.store = args.store or store_of(args, o.document)
  args.made_up = args.smoke
  args.studies = {}
  return args
end

---Returns the store's options (--store, --data, --workers, ...) with the values that `M.args` read,
---as words of a command line, for a script that this script runs. Without --store, the other script
---uses its own default store.
---@param args table  option values, as from M.args
---@param more? table<string, any>  further options of the other script, by name; false ones are left out
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
    if args[name] then words[#words + 1] = "--" .. name:gsub("_", "-") end
  end
  return words
end

-- Returns the name under which the store has a study (a set of training runs). The name says so if the data are made
-- up.
local function name_of(args, name) return name .. (args.made_up and ", made-up data" or "") end

---Returns true if a run failed because its training diverged (the loss was NaN or infinite). Such a
---failure is a result of a learning rate, because another attempt would fail, too.
---@param reason string  first line of the run's error
---@return boolean
function M.diverged(reason)
  return reason:find("mr.fit: the loss is", 1, true) ~= nil or reason:find("mr.fit: there is NaN", 1, true) ~= nil
end

-- Returns how many runs of a study failed for a reason that the study accepts as a result (`accepts` in M.study); 0 if
-- the study accepts none.
local function accepted(results)
  local accepts, count = rawget(results, "_accepts"), 0
  local sql = "SELECT reason FROM trials WHERE study = ?1 AND state = 'failed'"
  for _, row in ipairs(accepts and results._store:rows(sql, results.study.id) or {}) do
    count = count + (accepts(row.reason or "") and 1 or 0)
  end
  return count
end

---Returns how many runs of a study have a result, and how many are planned. Runs that failed or
---were killed have no result, except failures that the study accepts as a result (M.study). The
---third value says how many have none, as "2 failed, 1 killed"; it is nil if there are none.
---@param results mr.Results
---@return integer ended
---@return integer planned
---@return string? lost
function M.progress(results)
  local counts, failures = results:counts(), accepted(results)
  local ended, parts = (counts.done or 0) + (counts.pruned or 0) + failures, {}
  for _, state in ipairs{ "failed", "killed" } do
    local lost = (counts[state] or 0) - (state == "failed" and failures or 0)
    if lost > 0 then parts[#parts + 1] = ("%d %s"):format(lost, state) end
  end
  return ended, results.study.planned or ended, #parts > 0 and table.concat(parts, ", ") or nil
end

-- Returns the option that makes a study's failed and killed runs again: they are tried --retry times after the first
-- attempt.
local function again(results)
  local sql = "SELECT max(attempts) AS n FROM trials WHERE study = ?1 AND state IN ('failed', 'killed')"
  return ("--retry %d"):format(results._store:rows(sql, results.study.id)[1].n or 1)
end

-- Ends the script with an error if runs of a study failed or were killed. Tables would otherwise be made silently of
-- the other runs.
local function check_lost(results)
  local _, planned, lost = M.progress(results)
  if not lost then return end
  error(core.exit(1, ("'%s' in %s is not complete: of %d runs %s. `moonrank results %s` says why; %s makes them again")
    :format(results.name, results.path, planned, lost, results.path, again(results))), 0)
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

-- Returns an error's text without its place in a file ("file:line: ").
local function without_place(text) return (text:gsub("^[^:\n]*:%d+: ", "")) end

-- Returns the study (set of training runs) of this name from the store, or nil if the store or the study does not
-- exist. Any other problem ends the script with an error.
local function found_in_store(args, name)
  local ok, found = pcall(mr.results, args.store, name_of(args, name))
  if ok then return found end
  local why = tostring(found)
  if not why:find("unknown study in", 1, true) and not why:find "is not there$" then
    error(core.exit(1, without_place(why)), 0)
  end
end

-- Adds a study to the list of studies that the script read, which figure.finish states below the results. `accepts` is
-- that of M.study. The list is marked if runs of the study are missing.
local function noted(args, results, accepts)
  rawset(results, "_accepts", accepts)
  local list = args.studies
  if list then
    list[#list + 1] = results
    local ended, planned = M.progress(results)
    list.lacks = list.lacks or ended < planned
  end
  return results
end

---Returns true if the store lacks runs of a study that a script asked for. Results files are not
---written from such studies.
---@param list? table  `args.studies`, or the field `studies` of a section
---@return boolean
function M.lacks(list) return list ~= nil and list.lacks == true end

---Returns a sentence for each study that was continued with --force after a change, without
---duplicates. Results files are not written from such studies.
---@param list? table  `args.studies`, or the field `studies` of a section
---@return string[]
function M.forced(list)
  local found, seen = {}, {}
  for _, results in ipairs(list or {}) do
    local line = forced.line(results._store:study(results.name) or results.study)
    local said = line and ("Runs of '%s' are %s."):format(results.name, (line:gsub("force = true", "--force")))
    if said and not seen[said] then found[#found + 1], seen[said] = said, true end
  end
  return found
end

---Returns a section's text with the sentences of `M.forced` below it.
---@param text string
---@param list? table  `args.studies`
---@return string
function M.with_forced(text, list)
  local said = table.concat(M.forced(list), "\n")
  return said == "" and text or text .. "\n\n" .. said
end

-- Returns true if stored settings equal `settings`. Earlier versions of the program stored former names of options.
local function has_settings(stored, settings)
  return stored == studies.settings_text(settings) or stored == studies.settings_text(settings, true)
end

---Returns the study (set of stored training runs) of this name as it is in the store, or nil if it does
---not exist. It does not matter which script made its runs. If the study has another search space or
---other settings, the script ends with an error, because it would show the study's results as its own.
---@param args table  option values, as from M.args
---@param o kept_runs.Study  without `run`
---@return mr.Results?
function M.there(args, o)
  local found = found_in_store(args, o.name)
  if not found then
    if args.studies then args.studies.lacks = true end
    return nil
  end
  if found.study.space ~= space.new(o.space):describe()
    or not has_settings(found.study.settings, o.settings) then
    M.lack(("%s has runs of '%s' by other options; with those of then they are shown"):format(args.store, found.name))
  end
  return noted(args, found, o.accepts)
end

-- Returns the study (set of stored training runs) of this name if the store has all its planned runs. Ends the
-- script with an error otherwise.
local function whole(args, o)
  local found = M.there(args, o)
  if not found then
    M.lack(("%s has none of the runs of '%s'; without --kept they are made"):format(args.store, name_of(args, o.name)))
  end
  local ended, planned, lost = M.progress(found)
  if ended < planned then
    M.lack(("%s has %d of %d runs of '%s'%s; without --kept %s"):format(args.store, ended, planned, found.name,
      lost and (" (%s)"):format(lost) or "",
      lost and ("and with %s they are made again"):format(again(found)) or "the others are made"))
  end
  return found
end

local function in_one_line(text, separator) return (text:gsub("%s*\n%s*", separator)) end

-- Ends the script if the stored training runs have other settings, such as the number of epochs. --force does not allow
-- this, because the script would print their results as results of the settings that were asked for.
local function check_settings(args, o)
  local found = found_in_store(args, o.name)
  if not found or has_settings(found.study.settings, o.settings) then return end
  local difference = studies.difference(found.study.settings, studies.settings_text(o.settings))
  error(core.exit(1, ("%s has runs of '%s' with other settings: %s. Pass the options of the kept runs, or another "
    .. "store (--store)"):format(args.store, found.name, core.safe_text(in_one_line(difference, "; ")))), 0)
end

-- Returns an error of mr.sweep about a store in one line. The advice at its end names options of mr.sweep, such as
-- `force = true`. It is replaced by the options of the script, which cannot rename the study.
local function store_error(text)
  local what, advice = text:match "^(.*)\n(%b())$"
  if not what then return in_one_line(text, " ") end
  local go_on = advice:find("mix_numerics = true continues", 1, true) and ", --mix-numerics continues this one"
    or advice:find("force = true continues", 1, true) and ", --force continues this one" or ""
  return ("%s (another store (--store) begins another study%s)"):format(in_one_line(what, " "), go_on)
end

-- Calls mr.sweep. An error about the store ends the script with one line. Other errors, e.g. in the script, keep their
-- traceback.
local function sweep(args, o, options)
  local ok, found = check.attempt(mr.sweep, options)
  if ok then return found end
  if type(found) ~= "string" then error(found, 0) end
  if not found:find(args.store, 1, true) then error((found:gsub("mix_numerics = true", "--mix-numerics")), 0) end
  check_settings(args, o)
  error(core.exit(1, store_error((without_place(found):gsub("^mr%.sweep: ", "")))), 0)
end

---@class kept_runs.Study
---@field name string
---@field settings table  this field, `space`, `run` and `metric` are those of mr.sweep
---@field space table
---@field run fun(trial: mr.Trial): any
---@field metric? string  default: "valid"
---@field accepts? fun(reason: string): boolean  whether a failure with this reason is a result

---Returns a study: the results of a named set of training runs. Runs that are not in the store yet are
---made first. With --kept nothing is trained, and missing runs are an error. Runs that failed or were
---killed are an error, too, except failures for a reason that `accepts` takes as a result.
---@param args table  option values, as from M.args
---@param o kept_runs.Study
---@return mr.Results
function M.study(args, o)
  if args.kept then return whole(args, o) end
  if args.force then check_settings(args, o) end
  local results = noted(args, sweep(args, o, {
    name = name_of(args, o.name), store = args.store, workers = args.workers, force = args.force, retry = args.retry,
    mix_numerics = args.mix_numerics, metric = o.metric or "valid", direction = "maximize", settings = o.settings,
    space = o.space, run = o.run,
  }), o.accepts)
  check_lost(results)
  return results
end

return M
