-- Stores, for lists, the probabilities with which their rows were drawn (lists:drawn). Some losses correct for these
-- probabilities.
local check = require "moonrank.check"

local M = {}

local of_lists = setmetatable({}, { __mode = "k" })  -- maps lists (mr.Lists) to the probabilities of their rows

---Returns a copy of the lists with these probabilities. It is an error if they are not one number above 0 for each row.
---@param probabilities mr.Tensor  [rows]
function M.with(lists, probabilities)
  local where = "lists:drawn"
  if not check.is_tensor(probabilities) or probabilities.dims ~= 1 or probabilities.dtype == "int64" then
    check.expect(false, where, "probabilities", probabilities, "a tensor {rows} of dtype float32 or float64")
  end
  check.length(where, "probabilities", #probabilities, lists.rows, "one for each row")
  local q = probabilities:detach()
  local least, most = 1, 1
  if #q > 0 then least, most = q:min():item(), q:max():item() end
  if not (least > 0 and most < math.huge) then
    check.expect(false, where, "an entry of probabilities", least > 0 and most or least, "a finite number above 0")
  end
  local same = lists:to(lists.relevance.dtype)
  of_lists[same] = q
  return same
end

---Gives the lists `made` the probabilities of `lists`. With `numbers`, `made` has only the lists with these numbers.
---@param numbers? mr.Tensor  int64
function M.keep(lists, made, numbers)
  local q = of_lists[lists]
  of_lists[made] = q and numbers and q:rows(lists:rows_of(numbers):to(q.device)) or q
end

---Returns the probabilities of lists that M.with returned; else nil.
function M.of(lists) return of_lists[lists] end

return M
