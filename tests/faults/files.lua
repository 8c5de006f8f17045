-- Tests faults of a disk: writes a file by a workload of work.lua while the disk is full or read-only, the folder is
-- missing, file sizes are limited, or no file descriptor is free.
-- --fault NAME --work NAME --folder F, where F must be a mounted disk of its own for a full or read-only disk
local mr = require "moonrank"
local core = require "moonrank.core"
local fingerprint = require "moonrank.data.fingerprint"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""

local args = mr.args{ work = "", fault = "limit", folder = "" }
local all = dofile(here .. "work.lua")
local folder = args.folder

local function shell(command, ...) return (os.execute((command):format(...))) end

local held = {}
-- For each fault, a function that causes it and one that ends it. Limits are lowered so that they may be raised again.
local faults = {
  full = { function() return shell("cat /dev/zero > %s/filler 2>/dev/null; true", folder) end,
    function() os.remove(folder .. "/filler") end },
  read_only = { function() return shell("mount -o remount,ro %s", folder) end,
    function() shell("mount -o remount,rw %s", folder) end },
  vanished = { function() return shell("rm -rf %s", folder) end, function() shell("mkdir -p %s", folder) end },
  limit = { function() return shell "prlimit --fsize=64: --pid $PPID" end,
    function() shell "prlimit --fsize=unlimited: --pid $PPID" end },
  descriptors = {
    function()
      shell "prlimit --nofile=40: --pid $PPID"
      for i = 1, 100 do held[i] = io.open "/dev/null" end
      return true
    end,
    function()
      for i, file in pairs(held) do
        file:close()
        held[i] = nil
      end
    end,
  },
}

local function bytes_of(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

local function hidden_in(where)
  local names = {}
  for _, name in ipairs(core.list_folder(where)) do
    if name:find "^%.moonrank" or name:find "%.tmp" then names[#names + 1] = name end
  end
  return table.concat(names, " ")
end

local work = all[args.work](folder)
local expected = fingerprint.combined(work.run(work.new()))
if work.before then work.before() end
local before, state = {}, work.new()
for _, path in ipairs(work.writes or {}) do before[path] = bytes_of(path) end
collectgarbage()  -- closes unreachable files
assert(faults[args.fault][1](), "the fault cannot be made")
local ok, said = pcall(work.run, state)
faults[args.fault][2]()
print(ok and "worked" or core.error_text(said))
local left = core.file_exists(folder .. "/.") and hidden_in(folder) or ""
if left ~= "" then print("FOUND left " .. left) end
for path, old in pairs(before) do
  local now = bytes_of(path)
  if not ok and args.fault ~= "vanished" and now ~= old and not work.partial then print("FOUND changed " .. path) end
end
if work.before then work.before() end
local good, again = pcall(function() return fingerprint.combined(work.run(work.new())) end)
if not good then print("FOUND fails afterwards: " .. core.error_text(again)) end
if good and again ~= expected then print "FOUND other results afterwards" end
