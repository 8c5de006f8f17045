-- Scripts, and parts of them, that run in the process of a spec, which can then put stubs in place of trainings.
local sections = dofile "scripts/sections.lua"

local M = {}

-- Calls a function while a global has another value.
local function with_global(name, value, body, ...)
  local was = _G[name]
  rawset(_G, name, value)
  local ok, found = xpcall(body, debug.traceback, ...)
  rawset(_G, name, was)
  if not ok then error(found, 0) end
  return found
end

---Calls a function as a part of a script that was started with these words as its arguments.
---@generic T
---@param words string[]
---@param body fun(): T
---@return T
function M.with_words(words, body) return with_global("arg", { [0] = "script.lua", table.unpack(words) }, body) end

---The section that a script returns for a report: text, and tables with `rows`. The script prints nothing.
---@param path string  "scripts/lecture/profit.lua"
---@param words string[]
---@return { text: string, tables: mr.Table[] }
function M.section(path, words) return with_global("print", function() end, sections.call, path, words) end

return M
