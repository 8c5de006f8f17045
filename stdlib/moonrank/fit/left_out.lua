-- Warns before training if the loss leaves out many lists, and says why.
local check = require "moonrank.check"
local list_stats = require "moonrank.bounds.list_stats"

local M = {}

local most = 0.05  -- share of the lists that may be left out without a warning

-- How many lists are left out for which reason. Each list has the first reason that applies.
local function reasons_of(lists, metric)
  local grades, sizes = lists.relevance, lists.sizes:totable()
  local relevant = lists:sum((grades - metric.relevant):ge(0)):totable()
  local highest, lowest = lists:max(grades):totable(), (-lists:max(-grades)):totable()
  local counts = list_stats.weights(metric, lists, "float64", "cpu"):totable()
  local found = {}
  for l, rows in ipairs(sizes) do
    local why = counts[l] == 0 and (rows < 2 and "fewer than two rows"
      or highest[l] == lowest[l] and "equal grades in all rows"
      or relevant[l] == rows and ("no row below grade %g"):format(metric.relevant)
      or relevant[l] == 0 and ("no row of grade %g or more"):format(metric.relevant) or "no more rows than the cutoff")
    if why then found[why] = (found[why] or 0) + 1 end
  end
  local text = {}
  for _, why in ipairs(check.names(found)) do text[#text + 1] = ("%d have %s"):format(found[why], why) end
  return table.concat(text, ", ")
end

local warned = {}

---Warns if a loss of the library counts fewer than 95 % of the lists of train. Each text is printed
---once per process.
---@param plan mr.fit.Plan
function M.warn(plan)
  local lists, loss = check.field(plan.train, "lists"), plan.loss
  local metric = check.field(loss, "_bounds_metric")
  if not metric or not check.is_lists(lists) then return end  -- loss or data are the script's own
  local out = lists.count - loss:count(lists)
  if out <= most * lists.count then return end
  local text = ("mr.fit: %s leaves out %d of %d lists of train (%.0f %%). "
    .. "No order of their rows changes %s: %s."):format(tostring(loss), out, lists.count, 100 * out / lists.count,
    metric.name, reasons_of(lists, metric))
  if not warned[text] then check.warn(text) end
  warned[text] = true
end

return M
