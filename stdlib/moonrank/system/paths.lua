-- Checks paths before long work begins: a pipe may block, and a file that cannot be written is reported at once.
local core = require "moonrank.core"
local check = require "moonrank.check"
local find = require "moonrank.data.find"

local M = {}

-- Returns the error of the check `f` for a path as text; nil if the check accepts the path.
local function against(f, path)
  local ok, why = check.attempt(f, path)
  return not ok and check.reason(why) or nil
end

local function against_folder(path)
  if find.is_folder(path) then return nil end
  return ("%s: %s"):format(path, core.file_exists(path) and "is not a folder" or "there is no such folder")
end

-- Returns why a file or folder cannot be made at a path, because of the nearest folder above that exists; or nil.
local function against_room(path)
  local above = path:match "^(.*)/[^/]*$"
  while above and above ~= "" do
    if core.file_exists(above) then return against_folder(above) end
    local objection = against(core.check_file, above)
    if objection then return objection end
    above = above:match "^(.*)/[^/]*$"
  end
end

local kinds = {
  file = function(path)
    return against(core.check_file, path) or not core.is_file(path) and path .. ": there is no such file" or nil
  end,
  folder = against_folder,
  ["data folder"] = function(path) return against(find.path, path) or against_folder(find.path(path)) end,
  ["new file"] = function(path)
    return against(core.check_file, path)
      or path:sub(-1) == "/" and path .. ": ends with / and so names a folder, expected the name of a file"
      or against_room(path)
  end,
  ["new folder"] = function(path)
    if core.file_exists(path) then return against_folder(path) end
    return against(core.check_file, path) or against_room(path)
  end,
}

---The names of all kinds of paths. A "file", a "folder" and a "data folder" (also searched in the folders of data sets)
---must exist. A "new file" or "new folder" need not exist. If it exists, it must be of that kind, and the path above it
---must be a folder.
M.kinds = check.names(kinds)

---Returns as text why a path is not of a kind such as "file" or "new folder"; nil if it is of that kind.
---@param kind string  "file", "folder", "data folder", "new file" or "new folder"
---Example: `require("moonrank.system.paths").objection("folder", "/dev/null")   --> /dev/null: is not a folder`
---Example: `require("moonrank.system.paths").objection("new file", "/tmp")   --> /tmp: is a folder, expected a file`
function M.objection(kind, path) return kinds[kind](path) end

---Raises an error if a path is not of the given kind. The error names this path, even if a folder above it is the
---cause.
---@param caller string  name of the called function, for the error
---@param kind string    "file", "folder", "data folder", "new file" or "new folder"
function M.check(caller, kind, path)
  local objection = M.objection(kind, path)
  if not objection then return end
  check.fail("%s: %s%s", caller, objection:find(path, 1, true) and "" or core.safe_text(path) .. ": ", objection)
end

return M
