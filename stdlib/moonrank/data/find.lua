-- Finds data files and folders: by a path, or by a name that is searched in the folder $MOONRANK_DATA, in
-- ../shared/data and in the user's data folder.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- Returns the path of a file that may also be there as .gz; nil if it is not.
local function existing(path)
  return core.file_exists(path) and path or core.file_exists(path .. ".gz") and path .. ".gz" or nil
end

---Returns the path of a file or folder, plain or as .gz: `name` itself, or its path in the first data folder that has
---it ($MOONRANK_DATA, ../shared/data, the user's data folder). Otherwise raises an error.
---@param name string   a path, or a path in a data folder
---@param hint? string  advice that the error gives if the path is not found
---@return string
function M.path(name, hint)
  if type(name) ~= "string" or name == "" then
    check.fail_in_call("path is %s, expected the path of the data, a text", check.found(name))
  end
  local tried = {}
  for _, folder in ipairs(name:sub(1, 1) == "/" and { "" } or core.data_folders()) do
    local path = folder == "" and name or folder .. "/" .. name
    local found = existing(path)
    if found then return found end
    tried[#tried + 1] = path
  end
  check.fail_in_call("data '%s' not found; looked for %s%s", name, table.concat(tried, ", "),
    hint and "; " .. hint or "")
end

---Returns the path of the first file of `names` that exists in the folder `path`, plain or as .gz;
---nil if none of the files exists.
function M.file(path, names)
  for _, name in ipairs(names) do
    local found = existing(path .. "/" .. name)
    if found then return found end
  end
end

---Returns true if there is a folder at `path`.
function M.is_folder(path) return core.file_exists(path .. "/.") end

return M
