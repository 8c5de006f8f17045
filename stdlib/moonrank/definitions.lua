-- What scripts defined by name: bounds, losses, metrics, models. A name in a script stands for them, so a study is made of them, too.
local M = {}

---What was defined, by kind and name.
---@type table<string, any>
M.all = {}

---Notes a definition; another of the same kind and name takes its place.
---@param kind string
---@param name string
---@param what any  functions, alone or in a table
function M.note(kind, name, what) M.all[kind .. " " .. name] = what end

return M
