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

-- Returns why no file can be made in a folder, or in the nearest folder above it that exists; or nil. It tries to make
-- a file, because permissions do not tell: a folder may be on a file system that is read-only. Errors name `path`.
local function against_making(path, folder)
  local above = folder
  while not core.file_exists(above) do above = above:match "^(.*)/[^/]*$" or "." end
  if above == "" then above = "/" end
  local own = core.sha256(("%.17g %s"):format(core.clock(), {})):sub(1, 8)
  local probe = ("%s/.moonrank-%s"):format(above, own)
  local file, why = io.open(probe, "wb")
  if not file then
    return ("%s: cannot be written: no file can be made in %s (%s). Choose another folder"):format(path, above,
      tostring(why):match "[^:]*$":sub(2))
  end
  file:close()
  os.remove(probe)
end

---Returns why a file that is changed in place, such as a store, cannot be written at a path; nil if it can. If there is
---no such file, one can be written if a file can be made in the nearest existing folder of its path.
---@param path string
---Example: `require("moonrank.system.paths").unwritable("/dev/null/runs.db") ~= nil   --> true`
function M.unwritable(path)
  if not core.is_file(path) then return against_making(path, path) end
  local file, why = io.open(path, "r+b")
  if not file then return ("%s: cannot be written (%s)"):format(path, tostring(why):match "[^:]*$":sub(2)) end
  file:close()
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
    local objection
    if core.file_exists(path) then
      objection = against_folder(path)
    else
      objection = against(core.check_file, path) or against_room(path)
    end
    return objection or against_making(path, path)
  end,
}

-- An output file replaces an earlier one, so that its folder has to be writable in either case.
kinds["output file"] = function(path)
  return kinds["new file"](path) or against_making(path, path:match "^(.*)/[^/]*$" or ".")
end

---The names of all kinds of paths. A "file", a "folder" and a "data folder" (also searched in the
---folders of data sets) must exist. A "new file", "output file" or "new folder" need not exist. If it
---exists, it must be of that kind, and the path above it must be a folder. An "output file" or "new
---folder" must be writable. A "new file" may be a store that is only read; `unwritable` says whether
---it can be written.
M.kinds = check.names(kinds)

---Returns true if scripts write to paths of a kind, so that a path of this kind has to be writable.
---@param kind? string
---Example: `require("moonrank.system.paths").is_written "folder"   --> false`
function M.is_written(kind) return kind == "output file" or kind == "new folder" end

---Returns as text why a path is not of a kind such as "file" or "new folder"; nil if it is of that kind.
---@param kind string  "file", "folder", "data folder", "new file", "output file" or "new folder"
---Example: `require("moonrank.system.paths").objection("folder", "/dev/null")   --> /dev/null: is not a folder`
---Example: `require("moonrank.system.paths").objection("new file", "/tmp")   --> /tmp: is a folder, expected a file`
function M.objection(kind, path) return kinds[kind](path) end

---Raises an error if a path is not of the given kind. The error names this path, even if a folder above it is the
---cause.
---@param caller string  name of the called function, for the error
---@param kind string    "file", "folder", "data folder", "new file", "output file" or "new folder"
function M.check(caller, kind, path)
  local objection = M.objection(kind, path)
  if not objection then return end
  check.fail("%s: %s%s", caller, objection:find(path, 1, true) and "" or core.safe_text(path) .. ": ", objection)
end

return M
