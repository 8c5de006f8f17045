-- Finds data files and folders: by a path, or by a name that is searched in the folder $MOONRANK_DATA, in
-- ../shared/data and in the user's data folder.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Returns the path of a file or folder: `name` itself if it exists, else the path in the first data
---folder that contains `name` ($MOONRANK_DATA, ../shared/data, the user's data folder). A file that
---is there as `name`.gz is found, too. If no folder contains `name`, raises an error.
---@param name string
---@param hint? string  advice that the error gives if the path is not found
---@return string
function M.path(name, hint)
  if type(name) ~= "string" or name == "" then
    check.fail_in_call("path is %s, expected the path of a file or folder", check.found(name))
  end
  local tried = {}
  for _, folder in ipairs(name:sub(1, 1) == "/" and { "" } or core.data_folders()) do
    local path = folder == "" and name or folder .. "/" .. name
    for _, ending in ipairs{ "", ".gz" } do
      if core.file_exists(path .. ending) then return path .. ending end
    end
    tried[#tried + 1] = path
  end
  check.fail_in_call("data '%s' not found; looked for %s%s", name, table.concat(tried, ", "),
    hint and "; " .. hint or "")
end

---Returns the path of the first file of `names` that exists in the folder `path`, plain or as .gz;
---nil if none of the files exists.
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

---Returns true if there is a folder at `path`.
---@param path string
---@return boolean
function M.is_folder(path) return core.file_exists(path .. "/.") end

return M
