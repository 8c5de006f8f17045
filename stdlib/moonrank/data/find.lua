-- Where data is: an explicit path, or a name in MOONRANK_DATA, in ../shared/data, or in the user's data folder.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- Folders in which names are looked up, in this order.
local function folders()
  local list = {}
  if os.getenv("MOONRANK_DATA") then list[1] = os.getenv("MOONRANK_DATA") end
  list[#list + 1] = "../shared/data"
  local xdg = os.getenv("XDG_DATA_HOME")
  if not xdg or xdg == "" then xdg = (os.getenv("HOME") or "") .. "/.local/share" end
  list[#list + 1] = xdg .. "/moonrank"
  return list
end

---The path of a file or folder: `name` itself where it exists, else the first of the usual places that has it.
---@param name string
---@return string
function M.path(name)
  if core.file_exists(name) then return name end
  local tried = { name }
  if name:sub(1, 1) ~= "/" then
    for _, folder in ipairs(folders()) do
      local path = folder .. "/" .. name
      if core.file_exists(path) then return path end
      tried[#tried + 1] = path
    end
  end
  check.fail("no data '%s'; looked for %s", name, table.concat(tried, ", "))
end

---A file of a data set: `path` itself where it is a file, else the first of `names`, plain or .gz, in that folder.
---@param path string
---@param names string[]
---@return string?
function M.file(path, names)
  for _, name in ipairs(names) do
    for _, ending in ipairs{ "", ".gz" } do
      if core.file_exists(path .. "/" .. name .. ending) then return path .. "/" .. name .. ending end
    end
  end
end

return M
