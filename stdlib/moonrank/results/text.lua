-- Prints the studies of a store as text: the number of trials in each state, the best trials, and why trials failed.
local core = require "moonrank.core"
local columns = require "moonrank.results.columns"
local conventions = require "moonrank.results.conventions"
local left_out = require "moonrank.results.left_out"
local make_table = require("moonrank.table").new

local M = { states = left_out.states }

---Returns the name of the number by which a study compares trials: its metric, or "value" if it has no name.
function M.metric_of(study) return study.metric or "value" end

---Returns the number of trials in each state as text, such as "12 done, 1 failed". Without trials, it is "no trials".
---@param counts table<string, integer>  by state
---Example: `require("moonrank.results.text").counts{failed = 1, done = 12}   --> 12 done, 1 failed`
function M.counts(counts)
  local parts = {}
  for _, state in ipairs(M.states) do
    if counts[state] then parts[#parts + 1] = ("%d %s"):format(counts[state], state) end
  end
  return #parts > 0 and table.concat(parts, ", ") or "no trials"
end

-- Returns a table of the five best trials of a study, as text.
local function best_text(results)
  local data, rows = results:columns(), {}
  local value, order = data:_column("results", "value"), results:order(data, data:rows("results"))
  for i = 1, math.min(5, #order) do
    local line = { data:_column("results", "number")[order[i]], value[order[i]] }
    for c, param in ipairs(data.params) do line[c + 2] = data:_column("results", param)[order[i]] end
    rows[i] = line
  end
  local heads = { "trial", M.metric_of(results.study) }
  local made = make_table{ columns = table.move(columns.heads(data.params, heads), 1, #data.params, 3, heads),
    rows = rows }
  return tostring(conventions.below(results, made, data, order))
end

-- Returns the reasons why trials of a study failed or were killed: a line for each of the first five trials.
local function failures_text(results)
  local failed = results:trials{ columns = { "number", "state", "reason" }, states = { "failed", "killed" } }.rows
  local lines = {}
  for i = 1, math.min(5, #failed) do
    lines[i] = core.safe_text(("trial %s %s: %s"):format(failed[i][1], failed[i][2],
      tostring(failed[i][3]):match "[^\n]*"))
  end
  if #failed > 5 then lines[6] = ("... and %d more"):format(#failed - 5) end
  return table.concat(lines, "\n")
end

---Returns a text about the studies of a store: their counts of trials, best trials, and why trials failed.
---@param names string[]  of the studies
---@param open fun(path: string, name: string): mr.Results  opens a study
---@param note? string  last line, which says that a copy of the store was read
function M.of(path, names, open, note)
  local lines = {}
  local function add(text) lines[#lines + 1] = "  " .. text:gsub("\n", "\n  ") end
  for _, name in ipairs(names) do
    local results = open(path, name)
    local counts = results:counts()
    local planned = results.study.planned and " of " .. results.study.planned or ""
    lines[#lines + 1] = core.safe_text(("%s: %s%s"):format(name, M.counts(counts), planned))
    if counts.done then add(best_text(results)) end
    if counts.failed or counts.killed then add(failures_text(results)) end
  end
  if #lines == 0 then lines[1] = path .. " has no studies" end
  if note then lines[#lines + 1] = "(" .. note .. ")" end
  return table.concat(lines, "\n")
end

return M
