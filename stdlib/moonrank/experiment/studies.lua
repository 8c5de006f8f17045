-- Studies of experiments: makes or reads a study (a named set of training runs in a store), and says how many of its
-- runs are there, which failed, and which were continued after a change.
local mr = require "moonrank"
local core = require "moonrank.core"
local exit = require("moonrank.system.exit").exit
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"
local forced = require "moonrank.sweep.forced"
local space, studies = require "moonrank.sweep.search.space", require "moonrank.sweep.study"

local M = {}

---Returns an empty table in which a script caches, by text or number, what it read or computed
---once. Scripts need this table because a stored study (set of training runs) is compared with the
---values that its functions use: changed values would count as a change of the experiment. Weak
---tables such as this one are ignored in this comparison. Text and number keys are never
---garbage-collected, so nothing is lost.
---@return table
---Example: `mr.experiment.cache()   --> {}`
function M.cache() return setmetatable({}, { __mode = "k" }) end

-- Returns the name under which the store has a study; for made-up data it ends with ", made-up data".
local function name_of(args, name) return name .. (args.made_up and ", made-up data" or "") end

---Returns true if a run failed because its training diverged: the loss was NaN or infinite, or there
---was NaN in scores or derivatives. Such a failure is a result of a learning rate, because another
---attempt would fail, too.
---@param reason string  first line of the run's error
---@return boolean
---Example: `mr.experiment.diverged "mr.fit: the loss is NaN in epoch 1"   --> true`
function M.diverged(reason)
  given.need("diverged", "reason", reason, "string", "the first line of an error")
  return reason:find("mr.fit: the loss is", 1, true) ~= nil or reason:find("mr.fit: there is NaN", 1, true) ~= nil
end

-- Returns how many failures of a study its option `accepts` takes for a result, such as a diverged training.
local function accepted(results)
  local accepts, count = rawget(results, "_accepts"), 0
  local sql = "SELECT reason FROM trials WHERE study = ?1 AND state = 'failed'"
  for _, row in ipairs(accepts and results._store:rows(sql, results.study.id) or {}) do
    count = count + (accepts(row.reason or "") and 1 or 0)
  end
  return count
end

---Returns how many runs of a study have a result, and how many are planned. Pruned runs have a
---result. Runs that failed or were killed have none, except failures that the study accepts as a
---result (`accepts` in `mr.experiment.study`). The third value counts the failed and killed runs
---without a result, as "2 failed, 1 killed"; it is nil if there are none.
---@param results mr.Results  from `mr.experiment.study` or `mr.experiment.there`
---@return integer ended
---@return integer planned
---@return string? lost
function M.progress(results)
  given.results("progress", results)
  local counts, failures = results:counts(), accepted(results)
  local ended, parts = (counts.done or 0) + (counts.pruned or 0) + failures, {}
  for _, state in ipairs{ "failed", "killed" } do
    local lost = (counts[state] or 0) - (state == "failed" and failures or 0)
    if lost > 0 then parts[#parts + 1] = ("%d %s"):format(lost, state) end
  end
  return ended, results.study.planned or ended, #parts > 0 and table.concat(parts, ", ") or nil
end

-- Returns the command line option with which a script tries a study's failed and killed runs again. Each run is tried
-- --retry times after its first attempt, so the number is the largest number of attempts so far.
local function again(results)
  local sql = "SELECT max(attempts) AS n FROM trials WHERE study = ?1 AND state IN ('failed', 'killed')"
  return ("--retry %d"):format(results._store:rows(sql, results.study.id)[1].n or 1)
end

-- Ends the script with an error if runs of a study were lost, because tables would be made of the other runs.
local function check_lost(results)
  local _, planned, lost = M.progress(results)
  if not lost then return end
  exit(1, ("'%s' in %s is not complete: of %d runs %s. `moonrank results %s` says why; %s makes them again")
    :format(results.name, results.path, planned, lost, results.path, again(results)))
end

-- Begins the error about training runs that are not in the store although --kept forbids making them.
local lacking = "--kept: "

---Ends a script with status 2 and the error that training runs are missing, which the option --kept
---forbids to make. Does not check whether --kept was given. `mr.experiment.lacked` recognises this
---error.
---@param message string  what is missing
---Example: `mr.experiment.lacked((select(2, pcall(mr.experiment.lack, "no runs"))))   --> no runs`
function M.lack(message)
  given.need("lack", "message", message, "string", "a text")
  exit(2, lacking .. message)
end

---Returns the message given to `mr.experiment.lack` if `problem` is the error that it raised, and nil
---for other errors. A report that runs scripts asks this, because a script whose runs are missing is
---not a failure.
---@param problem any  error that ended a script
---@return string?
---Example: `mr.experiment.lacked "another error"   --> nil`
function M.lacked(problem)
  local text = tostring(problem)
  return text:sub(1, #lacking) == lacking and text:sub(#lacking + 1) or nil
end

-- Returns an error's text without its place in a file ("file:line: ").
local function without_place(text) return (text:gsub("^[^:\n]*:%d+: ", "")) end

-- Returns the study of this name; nil if it or the store does not exist. Other problems end the script.
local function found_in_store(args, name)
  local ok, found = pcall(mr.results, args.store, name_of(args, name))
  if ok then return found end
  local why = tostring(found)
  if not why:find("unknown study in", 1, true) and not why:find "is not there$" then
    exit(1, without_place(why))
  end
end

-- Adds a study to the list of studies that the script read, which mr.experiment.finish puts into the script's section.
-- `accepts` is an option of mr.experiment.study. If the study lacks planned runs, the list's field `lacks` becomes
-- true.
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

---Returns true if the store lacks runs of a study that a script asked for. Results files should not
---be written from such studies.
---@param list? table  `args.studies`, or the field `studies` of a section
---@return boolean
---Example: `mr.experiment.lacks{lacks = true}   --> true`
function M.lacks(list)
  if list == nil then return false end
  given.need("lacks", "list", list, "table", "the list of a script's studies")
  return rawget(list, "lacks") == true
end

---Returns the sentence "Of 90 runs 60 have been made so far." for the studies that a script asked for.
---Returns nil if the store has all of their planned runs.
---@param args table  option values, as from `mr.experiment.args`
---@return string?
---Example: `mr.experiment.so_far{studies = {}} == nil   --> true`
function M.so_far(args)
  given.need("so_far", "args", args, "table", "option values, as from mr.experiment.args")
  given.need("so_far", "args.studies", rawget(args, "studies"), "table", "the studies of the script")
  local there, planned, seen = 0, 0, {}
  for _, results in ipairs(args.studies) do
    if not seen[results.name] then
      local ended, of_study = M.progress(results)
      there, planned, seen[results.name] = there + ended, planned + of_study, true
    end
  end
  for _, count in pairs(rawget(args.studies, "absent") or {}) do planned = planned + count end
  if there == planned then return nil end
  return ("Of %d runs %d %s been made so far."):format(planned, there, there == 1 and "has" or "have")
end

---Returns a sentence for each study that was continued with --force after a change, without
---duplicates. Results files should not be written from such studies.
---@param list? table  `args.studies`, or the field `studies` of a section
---@return string[]
---Example: `#mr.experiment.forced{}   --> 0`
function M.forced(list)
  if list ~= nil then given.array("forced", "list", list, "table", "studies") end
  local found, seen = {}, {}
  for _, results in ipairs(list or {}) do
    given.results("forced", results)
    local line = forced.line(results._store:study(results.name) or results.study)
    local said = line and ("Runs of '%s' are %s."):format(results.name, (line:gsub("force = true", "--force")))
    if said and not seen[said] then found[#found + 1], seen[said] = said, true end
  end
  return found
end

local study_options = declare("mr.experiment.StudyOptions", {
  { "name", "string", required = true, help = "name of the study in the store" },
  { "space", "table", required = true, help = "parameters of the runs by name, as in mr.sweep" },
  { "settings", "table", default = {}, shown = "none",
    help = "values outside of the code on which results depend; other values are an error" },
  { "run", "fun(trial: mr.Trial): any", shown = "none, to read runs only",
    help = "makes one run and returns its numbers by name; `per_list` has values of every list" },
  { "metric", "string", default = "valid", help = "number by which runs are compared; larger is better" },
  { "accepts", "fun(reason: string): boolean", shown = "no failure",
    help = "whether a failure with this reason is a result, such as mr.experiment.diverged" },
})

local told = {}  -- studies for which `tell_earlier` has already warned in this process

-- Warns if the runs of a study were made by an earlier version of the script, whose code differs. Warns once per study.
local function tell_earlier(results, o)
  local key = results.path .. "\0" .. results.name
  if not o.run or told[key] or not studies.has_other_code(results.study, o.run, space.new(o.space)) then return end
  told[key] = true
  check.warn(("%s: an earlier version of the script made the runs of '%s', whose results are shown"):format(
    results.path, results.name))
end

---Returns the study (set of stored training runs) of this name as it is in the store, or nil if it does
---not exist. Runs may be missing: `mr.experiment.progress` says how many. If `run` is given and
---another version of the script made the runs, a line on standard error says so. If the stored study
---has another search space or other settings than `o`, the script ends with an error.
---@param args table  option values, as from `mr.experiment.args`
---@param o mr.experiment.StudyOptions  `run` is not needed
---@return mr.Results?
function M.there(args, o)
  given.args("there", args)
  o = study_options:read("mr.experiment.there", o)
  local found = found_in_store(args, o.name)
  if not found then
    local list = args.studies
    if list then
      list.lacks, list.absent = true, list.absent or {}
      list.absent[o.name] = space.new(o.space):count()  -- nil if the space of parameters is infinite
    end
    return nil
  end
  if found.study.space ~= space.new(o.space):describe()
    or not studies.has_settings(found.study.settings, o.settings) then
    M.lack(("%s has runs of '%s' by other options; with those of then they are shown"):format(args.store, found.name))
  end
  tell_earlier(found, o)
  return noted(args, found, o.accepts)
end

-- Returns the study of this name if the store has all its planned runs, else ends the script with an error.
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
  if not found or studies.has_settings(found.study.settings, o.settings) then return end
  local difference = studies.difference(found.study.settings, studies.settings_text(o.settings))
  exit(1, ("%s has runs of '%s' with other settings: %s. Pass the options of the kept runs, or another "
    .. "store (--store)"):format(args.store, found.name, core.safe_text(in_one_line(difference, "; "))))
end

-- Returns an error of mr.sweep about a store in one line. The advice at its end names options of mr.sweep, such as
-- `force = true`. It is replaced by the options of the script, which cannot rename the study.
local function store_error(text)
  local what, advice = text:match "^(.*)\n(Pass another name [^\n]*)$"
  if not what then what, advice = text:match "^(.*)\n(%b())$" end
  if not what then return in_one_line(text, " ") end
  local go_on = advice:find("mix_numerics = true to continue", 1, true) and ", or --mix-numerics to continue this one"
    or advice:find("force = true to continue", 1, true) and ", or --force to continue this one" or ""
  return ("%s. Pass another store (--store) to begin another study%s"):format(in_one_line(what, " "), go_on)
end

-- Calls mr.sweep. An error about the store ends the script with one line; other errors keep their traceback.
local function sweep(args, o, options)
  local ok, found = check.attempt(mr.sweep, options)
  if ok then return found end
  if type(found) ~= "string" then error(found, 0) end
  if not found:find(args.store, 1, true) then error((found:gsub("mix_numerics = true", "--mix-numerics")), 0) end
  check_settings(args, o)
  exit(1, store_error((without_place(found):gsub("^mr%.sweep: ", ""))))
end

---Returns a study: the results of a named set of training runs. Runs that are not in the store yet are
---made first. With --kept nothing is trained, and missing runs are an error. Runs that failed or were
---killed are an error, too, except failures for a reason that `accepts` takes as a result. Runs on
---made-up data (--smoke) belong to a study of another name.
---@param args table  option values, as from `mr.experiment.args`
---@param o mr.experiment.StudyOptions
---@return mr.Results
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results = mr.experiment.study(args, {name = "rates", space = {rate = mr.choice{0.1, 0.2}},
---  run = function(trial) return {valid = trial.rate} end})
---os.remove(store)
---results:best().params.rate   --> 0.2
---```
function M.study(args, o)
  given.args("study", args)
  o = study_options:read("mr.experiment.study", o)
  if args.kept then return whole(args, o) end
  if args.force then check_settings(args, o) end
  local results = noted(args, sweep(args, o, {
    name = name_of(args, o.name), store = args.store, workers = args.workers, force = args.force, retry = args.retry,
    mix_numerics = args.mix_numerics, metric = o.metric, direction = "maximize", settings = o.settings,
    space = o.space, run = o.run,
  }), o.accepts)
  check_lost(results)
  if args.force then tell_earlier(results, o) end
  return results
end

return M
