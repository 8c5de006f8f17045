-- Makes the cells of the grid from training runs. A cell is a loss under a bound in one setting (data set and model):
-- its test metric, compared with the loss without a bound and with random rankings.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---@class grid.Cell           results of a loss under a bound in one setting
---@field loss string
---@field bound string
---@field set grid.Setting    data set and model
---@field metric string       metric by which the loss is judged
---@field values number[]     test metric of each user or query, as means over folds or seeds
---@field mean number         mean of `values`
---@field above number        mean over users or queries minus the expected mean of random rankings
---@field low number          lower end of the 95 % bootstrap interval of `above`
---@field high number         upper end of the 95 % bootstrap interval of `above`
---@field capped integer      number of training runs that the limit on processor time (--cap) ended
---@field converged boolean   whether all training runs converged
---@field change? number      mean change against the loss without a bound, paired by user or query
---@field in_errors? number   the change divided by its standard error
---@field p? number           p-value of the change, corrected over all cells of all settings
---@field summarised? boolean  whether summaries count the change: this cell and the one without a bound are sound

-- Maps each cell (a loss under a bound), by the key "loss bound", to the row numbers of its training runs in `columns`.
-- Cells that lack a run on some fold are left out.
local function complete(columns, folds)
  local rows, loss, bound = {}, columns:column("loss"), columns:column("bound")
  for row = 1, columns.count do
    local key = loss[row] .. " " .. bound[row]
    rows[key] = rows[key] or {}
    table.insert(rows[key], row)
  end
  for key, found in pairs(rows) do rows[key] = #found == folds and found or nil end
  return rows
end

-- Returns why training runs failed: an error text, or "killed", by the key "loss bound".
local function reasons(results)
  local columns, found = results:columns{ "failed", "killed" }, {}
  if columns.count == 0 then return found end
  local loss, bound, reason = columns:column("loss"), columns:column("bound"), columns:column("reason")
  for row = 1, columns.count do found[loss[row] .. " " .. bound[row]] = reason[row] or "killed" end
  return found
end

-- Makes a cell from its training runs: `rows` are row numbers in the columns of the results.
local function cell_of(results, columns, rows, loss, bound)
  local capped, converged = 0, true
  local cut, fine = columns:column("capped"), columns:column("converged")
  for _, row in ipairs(rows) do
    capped, converged = capped + math.tointeger(cut[row]), converged and fine[row] == 1
  end
  local function by_list(name) return mr.experiment.by_list({ results }, { loss = loss, bound = bound }, name) end
  local cell = { loss = loss, bound = bound, values = by_list "own", capped = capped, converged = converged,
    metric = protocol.metric_of(loss) }
  cell.mean = mr.stats.mean(cell.values)
  local beyond = protocol.beyond(cell.values, by_list "chance")
  cell.above, cell.low, cell.high = beyond.mean, beyond.low, beyond.high
  return cell
end

---Makes all cells of a setting (data set and model). A cell has the results of a loss under a bound; its key is "loss
---bound". The second result has the reasons why training runs failed, by the same key.
---@param results mr.Results
---@param set grid.Setting
---@return table<string, grid.Cell>
---@return table<string, string>
function M.of(results, set)
  local cells, columns = {}, results:columns()
  for key, rows in pairs(complete(columns, set.folds)) do
    local loss, bound = key:match "^(%S+) (%S+)$"
    cells[key] = cell_of(results, columns, rows, loss, bound)
    cells[key].set = set
  end
  return cells, reasons(results)
end

return M
