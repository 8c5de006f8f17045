-- Checks that a study's earlier trials used the data that the script has now, and ran under this numerics version. The
-- store has the fingerprints of each trial's data. For a comparison, a trial runs again with the current data, but only
-- up to its call of mr.fit. In all functions, `study` is the study's row in the store.
local core = require "moonrank.core"
local check = require "moonrank.check"
local forced = require "moonrank.sweep.forced"
local trials = require "moonrank.sweep.trial"

local M = {}

local most_lines = 6

local function text_of(entry) return ("%s %s (%s)"):format(entry.role, entry.fingerprint, entry.what) end

-- Returns the first and last trial of each group with equal data, and the number of trials without a record.
local function different(kept)
  local known, groups, unknown = {}, {}, 0
  for _, number in ipairs(check.names(kept)) do
    local parts = {}
    for i, each in ipairs(kept[number].entries) do parts[i] = each.role .. " " .. each.fingerprint end
    local key = table.concat(parts, "\n")
    if not kept[number].noted then unknown = unknown + 1
    elseif key ~= "" then
      if not known[key] then
        known[key] = { first = number }
        groups[#groups + 1] = known[key]
      end
      known[key].last = number
    end
  end
  return groups, unknown
end

local order = { train = 1, valid = 2, test = 3, other = 4 }

-- Returns the data sets in `entries` that are not in `from`, compared by role (train, valid, test) and fingerprint.
local function missing(entries, from)
  local there, out = {}, {}
  for _, each in ipairs(from) do there[each.role .. each.fingerprint] = true end
  for _, each in ipairs(entries) do
    if not there[each.role .. each.fingerprint] then out[#out + 1] = each end
  end
  table.sort(out, function(a, b)
    if a.role ~= b.role then return order[a.role] < order[b.role] end
    return a.fingerprint < b.fingerprint
  end)
  return out
end

-- Returns the data sets that a trial passed to mr.fit, without other data that it read.
local function of_fit(entries)
  local out = {}
  for _, each in ipairs(entries) do
    if each.role ~= "other" then out[#out + 1] = each end
  end
  return out
end

-- Returns, as text, how the data that a trial uses now differ from the data that it used when it ran. Returns nil if it
-- uses data now and used all of them then.
local function difference(kept, now)
  local roles, lines, new, of_fits = {}, {}, missing(now, kept), of_fit(kept)
  if #new == 0 and #now > 0 then return nil end
  for _, each in ipairs(new) do roles[each.role] = true end
  for _, each in ipairs(#of_fits > 0 and missing(of_fits, now) or kept) do
    if #lines < most_lines and (roles[each.role] or #now == 0) then lines[#lines + 1] = "then: " .. text_of(each) end
  end
  for _, each in ipairs(new) do lines[#lines + 1] = "now:  " .. text_of(each) end
  if #now == 0 then lines[#lines + 1] = "now:  none" end
  return table.concat(lines, "\n  ")
end

-- Warns if a trial used data without a fingerprint, because such data cannot be compared.
local function warn_unknown(store, study, kept, groups)
  for _, group in ipairs(groups) do
    for _, each in ipairs(kept[group.first].entries) do
      if each.fingerprint == "unknown" then
        check.warn(("mr.sweep: %s: trial %d of '%s' used %s data without a fingerprint. Whether they are the same is "
          .. "not known"):format(store.path, group.first, study.name, each.role))
        return
      end
    end
  end
end

-- Paths of stores for which it was already warned that a trial used data after its call of mr.fit. The comparison run
-- stops at that call, so later data is not compared. The warning comes once per store.
local warned = {}
local function warn_rest(store, study, kept, group, now)
  local rest = missing(kept[group.first].entries, now)[1]
  if not rest or warned[store.path] then return end
  warned[store.path] = true
  check.warn(("mr.sweep: %s: trial %d of '%s' used more data later (%s). Whether these are the same is not known. "
    .. "There is no further warning about this store"):format(store.path, group.first, study.name, rest.what))
end

local go_on = "Pass another name or store to begin another study, or force = true to continue this one"

-- Returns why a study may not continue with the present data, or nil, and whether the data is known to differ.
local function objection(store, study, context, job)
  local kept = store:data(study)
  local groups, unknown = different(kept)
  if unknown > 0 then
    return ("mr.sweep: %s has %d trials of '%s' from before data had fingerprints, so their data are not known\n%s")
      :format(store.path, unknown, study.name, go_on), false
  end
  warn_unknown(store, study, kept, groups)
  local seen = {}
  for _, group in ipairs(groups) do
    local number, entries = group.first, kept[group.first].entries
    local stop = #of_fit(entries) > 0 and "fit" or "any"
    local now, problem = trials.data_of(context, job(number), stop)
    -- If the space of parameters was changed with `force = true`, the group's first trial may have parameters with
    -- which the trial's function fails now. In this case its last trial is run for the comparison.
    if problem and forced.has(study, "space") then
      number = group.last
      now, problem = trials.data_of(context, job(number), stop)
    end
    if problem and not forced.has(study, "space") then
      return ("mr.sweep: the data of trial %d of '%s' in %s cannot be made again for a comparison: %s\n%s")
        :format(number, study.name, store.path, problem, go_on), false
    end
    seen[group] = not problem and now or nil
    local differs = not problem and difference(entries, now)
    if differs then
      return ("mr.sweep: %s has a study '%s' already, of other data; trial %d:\n  %s\n%s"):format(store.path,
        study.name, number, differs, go_on), true
    end
  end
  for _, group in ipairs(groups) do
    if seen[group] then warn_rest(store, study, kept, group, seen[group]) end
  end
end

---Raises an error if a study's trials used other data than the script has now, if they have no record of their data, or
---if their data cannot be made again for a comparison.
---@param job fun(number: integer): mr.sweep.Job  returns what a trial needs to run again
function M.check(store, study, context, job)
  local why = objection(store, study, context, job)
  if why then check.fail("%s", why) end
end

---If a study's trials used other data than the script has now, records that the study continues with `force = true`. If
---the code changed, too, only the change of code is recorded, because trials may run long before they use their data.
---@param job fun(number: integer): mr.sweep.Job  returns what a trial needs to run again
function M.note(store, study, context, job)
  for _, field in ipairs{ "data", "script", "form of the recorded code" } do
    if forced.has(study, field) then return end
  end
  local _, differ = objection(store, study, context, job)
  if differ then forced.note(store, study, { "data" }) end
end

---Warns if the trials of a complete study, whose results are shown with `force = true`, used other data than the
---script has now.
---@param job fun(number: integer): mr.sweep.Job  returns what a trial needs to run again
function M.warn(store, study, context, job)
  local why, differ = objection(store, study, context, job)
  if not differ then return end
  check.warn(why:match "^(.*)\n" .. "\nThe results that are shown are of the data of then")
end

---Raises an error if trials ran under another numerics version than this program's, or an unrecorded one.
function M.check_numerics(store, study)
  local others = {}
  for _, each in ipairs(store:numerics(study)) do
    if each.numerics ~= core.numerics() then
      local name = each.numerics and "'" .. core.safe_text(each.numerics) .. "'" or "not recorded"
      others[#others + 1] = ("%s (%d trial%s)"):format(name, each.trials, each.trials == 1 and "" or "s")
    end
  end
  if #others == 0 then return end
  check.fail("mr.sweep: %s has a study '%s' already, from another numerics version; results may differ in their last "
    .. "digits:\n  then: %s\n  now:  '%s'\nPass another name or store to begin another study, or "
    .. "mix_numerics = true to continue this one",
    store.path, study.name, table.concat(others, ", "), core.numerics())
end

return M
