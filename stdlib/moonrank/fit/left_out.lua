-- Warns before training if many lists do not count in the loss, because no order of their rows changes the metric of
-- the loss's bounds, or if all lists that count have weight 0. The first warning counts the reasons.
local check = require "moonrank.check"
local list_stats = require "moonrank.bounds.list_stats"

local M = {}

local most = 0.05  -- largest share of lists that a loss may leave out without a warning

-- Returns a text with the number of lists that a loss leaves out, by reason, such as "12 have fewer than two rows". A
-- list that has several reasons counts only for the first.
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

---Warns if a loss of Moonrank leaves out more than 5 % of the lists of train, or all of them because
---of their weights. The first warning ignores weights, is not given for a sum of losses, and is printed
---once per process if its text is the same.
function M.warn(plan)
  local lists, loss = check.field(plan.train, "lists"), plan.loss
  local metric = check.field(loss, "_bounds_metric")
  -- No warning is given in two cases. If the script defined the loss or the dataset, it is unknown which lists count.
  -- Lists of interactions always count, because each has a relevant row and another row.
  if not metric or plan.interactions or not check.is_lists(lists) then return end
  local plain = lists:with_weights()
  if lists:has_weights() and loss:count(lists) == 0 and loss:count(plain) > 0 then
    check.warn("mr.fit: all lists of train that count in the loss have weight 0, so training changes nothing")
  end
  if check.field(loss, "_terms") then return end  -- each term of a sum leaves out other lists
  lists = plain
  local out = lists.count - loss:count(lists)
  if out <= most * lists.count then return end
  local text = ("mr.fit: %s leaves out %d of %d lists of train (%.0f %%). "
    .. "No order of their rows changes %s: %s."):format(tostring(loss), out, lists.count, 100 * out / lists.count,
    metric.name, reasons_of(lists, metric))
  if not warned[text] then check.warn(text) end
  warned[text] = true
end

return M
