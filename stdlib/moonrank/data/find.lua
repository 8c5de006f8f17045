-- Where data is: an explicit path, or a name in MOONRANK_DATA, in ../shared/data, or in the user's data folder.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- Folders in which names are looked up, in this order.
local function folders()
  local list = { "../shared/data" }
  local chosen = os.getenv("MOONRANK_DATA")
  if chosen and chosen ~= "" then table.insert(list, 1, chosen) end
  local known, own = pcall(core.data_folder)  -- raises where there is neither HOME nor XDG_DATA_HOME
  if known then list[#list + 1] = own end
  return list
end

---The path of a file or folder: `name` itself where it exists, else the first of the usual folders that contains it.
---@param name string
---@param hint? string  what to do where it is not found
---@return string
function M.path(name, hint)
  if type(name) ~= "string" or name == "" then
    check.fail("path is %s, expected the path of a file or folder", name == "" and "empty" or "a " .. type(name))
  end
  if core.file_exists(name) then return name end
  local tried = { name }
  if name:sub(1, 1) ~= "/" then
    for _, folder in ipairs(folders()) do
      local path = folder .. "/" .. name
      if core.file_exists(path) then return path end
      tried[#tried + 1] = path
    end
  end
  check.fail("no data '%s'; looked for %s%s", name, table.concat(tried, ", "), hint and "; " .. hint or "")
end

---A file in the folder `path`: the first of `names`, plain or .gz, that is there.
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

---Whether `path` is a folder.
---@param path string
---@return boolean
function M.is_folder(path) return core.file_exists(path .. "/.") end

return M
