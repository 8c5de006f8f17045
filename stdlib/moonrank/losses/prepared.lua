-- Keeps what a loss needs for a batch from the time before the batch is scored until the loss is computed.
local M = {}

---Returns two functions. `keep` stores a value for lists when the loss's `_prepare` is called. `take` returns the value
---and forgets it, so that a call outside of mr.fit does not find it. Terms of a sum store one value each.
---@return fun(lists: mr.Lists, value: any) keep
---@return fun(lists: mr.Lists): any take
function M.new()
  local prepared = setmetatable({}, { __mode = "k" })
  local function keep(lists, value)
    local of_lists = prepared[lists] or {}
    prepared[lists] = of_lists
    of_lists[#of_lists + 1] = value
  end
  return keep, function(lists) return table.remove(prepared[lists] or {}) end
end

return M
