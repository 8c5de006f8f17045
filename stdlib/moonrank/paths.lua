-- What a path must lead to, looked at before long work: reading a pipe may wait for ever, and what cannot be written is better said at once.
local core = require "moonrank.core"
local check = require "moonrank.check"
local find = require "moonrank.data.find"

local M = {}

local function need(good, path, what)
  if not good then error(("%s: %s"):format(path, what), 0) end
end

local function need_folder(path)
  need(find.is_folder(path), path, core.file_exists(path) and "is no folder, expected one" or "there is no such folder")
end

-- The first folder above a new name that is there must be one.
local function need_room(path)
  local above = path:match "^(.*)/[^/]*$"
  while above and above ~= "" do
    if core.file_exists(above) then return need_folder(above) end
    core.check_file(above)
    above = above:match "^(.*)/[^/]*$"
  end
end

local kinds = {
  file = function(path)
    core.check_file(path)
    need(core.is_file(path), path, "there is no such file")
  end,
  folder = need_folder,
  ["data folder"] = function(path) need_folder(find.path(path)) end,
  ["new file"] = function(path)
    core.check_file(path)
    need_room(path)
  end,
  ["new folder"] = function(path)
    if core.file_exists(path) then return need_folder(path) end
    core.check_file(path)
    need_room(path)
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
function M.objection(kind, path)
  local ok, why = check.attempt(kinds[kind], path)
  return not ok and check.reason(why) or nil
end

return M
