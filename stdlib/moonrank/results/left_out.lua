-- Makes notes below a study's tables: how many trials are not shown, and cells with unequal numbers of trials.
local check = require "moonrank.check"

local M = {}

---The states of a trial, in the order in which notes count them.
M.states = { "done", "pruned", "failed", "killed", "interrupted", "paused", "running" }

---The part of an error message that says what a list of states must be.
M.states_text = "a table of states, each one of: " .. table.concat(M.states, ", ")

---Returns true if every entry of a list is the name of a trial's state.
---@param list string[]
---Example: `require("moonrank.results.left_out").are_states{"done", "finished"}   --> false`
function M.are_states(list)
  local known = {}
  for _, state in ipairs(M.states) do known[state] = true end
  for i = 1, #list do
    if not known[list[i]] then return false end
  end
  return true
end

-- Returns the number of trials in each state, for the given rows of a column of states.
local function counts_of(state_of, rows)
  local counts = {}
  for _, row in ipairs(rows) do counts[state_of[row]] = (counts[state_of[row]] or 0) + 1 end
  return counts
end

-- Returns the numbers of trials by state as text, such as "2 failed, 1 running".
local function counts_text(counts)
  local parts = {}
  for _, state in ipairs(M.states) do
    parts[#parts + 1] = counts[state] and ("%d %s"):format(counts[state], state) or nil
  end
  return table.concat(parts, ", ")
end

---Returns a line for each value of a parameter without a finished trial: "no trial of bound = mean is done: 2 failed".
---@param where string                name of the function in errors
---@param by string                   name of the parameter
---@param wanted? table<string, any>  only trials with these parameter values count
---@return string[]
function M.without_done(results, where, by, wanted)
  local all, found = results:columns(M.states), {}
  local state_of = all:_column(where, "state")
  for _, group in ipairs(all:groups(where, { by }, all:rows(where, wanted))) do
    local counts = counts_of(state_of, group.rows)
    if not counts.done then
      found[#found + 1] = ("no trial of %s = %s is done: %s"):format(by, tostring(group.key[1]), counts_text(counts))
    end
  end
  return found
end

---Raises an error if no finished trial has the wanted parameter values. It says in which states the trials are.
---@param where string                name of the function in errors
---@param wanted? table<string, any>  only trials with these parameter values count
---@return integer[] rows  of the finished trials with these values, as indices in `results:columns()`
function M.finished(results, where, wanted)
  local rows = results:columns():_wanted_rows(where, wanted)
  if #rows > 0 then return rows end
  local all = results:columns(M.states)
  local others = all:rows(where, wanted)
  local counts = counts_of(all:_column(where, "state"), others)
  local fits, n = wanted and next(wanted) and " that fits `where`" or "", #others
  local study = ("'%s' in %s"):format(results.name, results.path)
  if all.count == 0 then check.fail("%s: the study %s has no trials", where, study) end
  if n == 0 then check.fail("%s: no trial of %s has all values of `where` together", where, study) end
  check.fail("%s: no trial of %s%s is finished: %s. results:trials() has the reasons", where, study, fits,
    counts_text(counts))
end

---Returns a line that says how many trials a table leaves out by state (failed, pruned, ...); nil for none.
---@param where string                name of the function in errors
---@param wanted? table<string, any>  only trials with these parameter values count
---@param states? string[]            states of the trials that are shown (default: done)
function M.note(results, where, wanted, states)
  local all, left = results:columns(M.states), 0
  local rows = all:rows(where, wanted)
  local counts = counts_of(all:_column(where, "state"), rows)
  for _, state in ipairs(states or { "done" }) do counts[state] = nil end
  for _, count in pairs(counts) do left = left + count end
  if left == 0 then return nil end
  return ("%d of %d trials are left out: %s"):format(left, #rows, counts_text(counts))
end

---Returns a line that says that cells or groups have unequal numbers of trials; nil if they are equal.
---@param what string       "cells"
---@param counts integer[]  number of trials of each cell
---Example: `require("moonrank.results.left_out").spread("cells", {3, 1, 3})   --> cells have 1 to 3 trials`
function M.spread(what, counts)
  local least, most = math.huge, 0
  for _, count in ipairs(counts) do least, most = math.min(least, count), math.max(most, count) end
  return least < most and ("%s have %d to %d trials"):format(what, least, most) or nil
end

---Returns a line that says how many trials with equal parameters were averaged, in how many cells; nil for none.
---@param trials integer  number of trials
---@param cells integer   number of different combinations of parameters
function M.repeated(trials, cells)
  return trials > cells and ("repeated trials are averaged: %d trials in %d cells"):format(trials, cells) or nil
end

return M
