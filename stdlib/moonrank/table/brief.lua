-- Makes one-line texts of objects, for places where an object is an entry of a table or a field of a record.
local check = require "moonrank.check"
local core = require "moonrank.core"

local M = {}

-- largest number of characters for the numbers of a tensor; a longer text is replaced by the shape
local short <const> = 60

-- Returns the one-line text of a tensor: its numbers if they are few, else its shape and dtype.
local function of_tensor(x)
  local text = #x:shape() <= 1 and x:numel() <= 8 and tostring(x) or nil
  if text and #text <= short and not text:find "\n" then return text end
  return ("mr.Tensor {%s} %s"):format(table.concat(x:shape(), ", "), x.dtype)
end

---Returns an object as text on one line: the first line that it prints, or the names of its columns if it prints as a
---table. A tensor gives its numbers if they are few, else its shape and dtype. For objects other than tensors, the
---metamethod `__brief` replaces this text.
---Example: `require("moonrank.table.brief").text(mr.zeros{2, 3})   --> mr.Tensor {2, 3} float32`
---Example:
---```lua
---local found = mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"})
---require("moonrank.table.brief").text(found)   --> mr.Evaluation: rr 0.5000
---```
function M.text(value)
  if check.is_tensor(value) then return of_tensor(value) end
  local meta = debug.getmetatable(value)
  local own = type(meta) == "table" and rawget(meta, "__brief")
  if own then return core.safe_text(own(value)) end
  local text = tostring(value)
  local first, second = text:match "^([^\n]*)\n([^\n]*)"
  if not first then return core.safe_text(text) end
  if not second:find "^%-[%- ]*$" then return core.safe_text(first .. " ...") end
  local name = type(meta) == "table" and rawget(meta, "__name") or "table"
  local columns = first:gsub("^%s+", ""):gsub("%s%s+", ", ")
  return core.safe_text(("%s of %s"):format(name, columns))
end

return M
