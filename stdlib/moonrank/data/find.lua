-- Finds data files: by a path, or by a name in MOONRANK_DATA, ../shared/data or the user's data folder.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Returns the path of a file or folder: `name` itself if it exists, else in the first of the usual
---folders that contains it.
---@param name string
---@param hint? string  advice that the error gives if the path is not found
---@return string
function M.path(name, hint)
  if type(name) ~= "string" or name == "" then
    check.fail("path is %s, expected the path of a file or folder", name == "" and "empty" or "a " .. type(name))
  end
  local tried = {}
  for _, folder in ipairs(name:sub(1, 1) == "/" and { "" } or core.data_folders()) do
    local path = folder == "" and name or folder .. "/" .. name
    if core.file_exists(path) then return path end
    tried[#tried + 1] = path
  end
  check.fail("data '%s' not found; looked for %s%s", name, table.concat(tried, ", "), hint and "; " .. hint or "")
end

---Returns the first of the files `names` that exists in the folder `path`, plain or .gz.
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

---Returns true if `path` is a folder.
---@param path string
---@return boolean
function M.is_folder(path) return core.file_exists(path .. "/.") end

return M
