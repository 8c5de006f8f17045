-- Checks paths before long work: reading a pipe may wait for ever, and a file that cannot be
-- written is better reported at once.
local core = require "moonrank.core"
local check = require "moonrank.check"
local find = require "moonrank.data.find"

local M = {}

-- The reason why a check of the program or of the library refuses a path; nil if it accepts it.
local function against(f, path)
  local ok, why = check.attempt(f, path)
  return not ok and check.reason(why) or nil
end

local function against_folder(path)
  if find.is_folder(path) then return nil end
  return ("%s: %s"):format(path, core.file_exists(path) and "is no folder, expected one" or "there is no such folder")
end

-- The reason why a file or folder cannot be made under a name, or nil. The nearest existing path
-- above it must be a folder.
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
    return against(core.check_file, path) or path:sub(-1) == "/" and path .. ": is the name of a folder, expected that of a file"
      or against_room(path)
  end,
  ["new folder"] = function(path)
    if core.file_exists(path) then return against_folder(path) end
    return against(core.check_file, path) or against_room(path)
  end,
}

---The kinds: "file", "folder" and "data folder", a folder that may lie where data are looked for, must be there; of a "new file" or "new folder"
---what is there must be one, and so must the folder above.
M.kinds = check.names(kinds)

---Why this path leads to no such thing, and can make none; nil where it does or can.
---@param kind string
---@param path string
---@return string?
---Example: `require("moonrank.paths").objection("folder", "/dev/null")   --> /dev/null: is no folder, expected one`
---Example: `require("moonrank.paths").objection("new file", "/tmp")   --> /tmp: is a folder, expected a file`
function M.objection(kind, path) return kinds[kind](path) end

---Raises what there is to say against a path, which is named also where it is a folder above it that is wrong.
---@param caller string
---@param kind string
---@param path string
function M.check(caller, kind, path)
  local objection = M.objection(kind, path)
  if not objection then return end
  check.fail("%s: %s%s", caller, objection:find(path, 1, true) and "" or core.safe_text(path) .. ": ", objection)
end

return M
