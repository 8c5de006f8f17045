-- Tests failing memory allocations: repeats a workload of work.lua, and in run n the n-th allocation fails. With --lost
-- 2, the next one fails, too. With --cold N, a fresh process runs the workload once, and its N-th allocation fails. A
-- preloaded library makes allocations fail:
-- LD_PRELOAD=build/release/libmoonrank_faults.so moonrank tests/faults/allocations.lua --work evaluation \
--   --folder /tmp/empty --lost 2
local mr = require "moonrank"
local core = require "moonrank.core"
local fingerprint = require "moonrank.data.fingerprint"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""

local args = mr.args{
  work = { default = "", help = "what is done; without it the names of all are printed" },
  folder = { default = "", help = "an empty folder, which it gets" },
  lost = { default = 1, least = 1, help = "how many allocations fail, one after the other" },
  first = { default = 1, least = 1, help = "the first n" },
  stride = { default = 1, least = 1, help = "from one n to the next" },
  count = { default = false, help = "prints how many allocations there are" },
  cold = { default = 0, least = 0, help = "the N-th fails in a process that has done nothing; 0: not so" },
}
local all = dofile(here .. "work.lua")

local function bytes_of(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

local function names_in(folder)
  local names = core.list_folder(folder)
  table.sort(names)
  return names
end

local names = {}
for name in pairs(all) do names[#names + 1] = name end
table.sort(names)
if args.work == "" then return print(table.concat(names, "\n")) end

if not all[args.work] then
  error(("--work: there is no '%s'; there are: %s"):format(args.work, table.concat(names, ", ")), 0)
end
if args.folder == "" then error("--folder is missing", 0) end
if not os.getenv "faults:end" then error("runs under LD_PRELOAD=.../libmoonrank_faults.so alone", 0) end
local work = all[args.work](args.folder)

-- Returns a fingerprint (checksum) of everything that a run of the workload returned.
local function text_of(...) return fingerprint.combined(...) end

local function found(n, what)
  error(("FOUND %s, allocation %d, %d lost: %s"):format(args.work, n, args.lost, what), 0)
end

-- Runs the workload while its n-th allocation fails. Returns success, the error, the results, and how many allocations
-- were made. Until the failures are switched off, this function itself must not allocate memory.
local function without(n, state)
  local order <const>, getenv <const>, results = ("faults:%d,%d"):format(n, args.lost), os.getenv, nil
  local function run()
    getenv(order)
    results = table.pack(work.run(state))
  end
  local ok, said = pcall(run)
  local made = getenv "faults:end"
  return ok, said, results, tonumber(made)
end

-- With --cold: tests the first run in a process, because state that it creates stays for later runs. A failed
-- allocation must not damage this state.
if args.cold > 0 then
  if work.before then work.before() end
  local ok, said, results = without(args.cold, work.new())
  if not ok and not core.error_text(said):find "memory" then found(args.cold, core.error_text(said)) end
  local first = ok and text_of(table.unpack(results, 1, results.n))
  local again = text_of(work.run(work.new()))
  if first and first ~= again then found(args.cold, "other results") end
  return print(("%s: 1 tried, %d errors"):format(args.work, ok and 0 or 1))
end

if work.before then work.before() end
local before, undisturbed = {}, work.new()
for _, path in ipairs(work.writes or {}) do before[path] = bytes_of(path) end
local expected = text_of(work.run(undisturbed))
local after = {}
for _, path in ipairs(work.writes or {}) do after[path] = bytes_of(path) end
local there = names_in(args.folder)

local function names_known(n)
  if work.store or work.folder then return end
  for _, name in ipairs(names_in(args.folder)) do
    local known = false
    for _, each in ipairs(there) do known = known or each == name end
    if not known then found(n, "left the file " .. name) end
  end
end

-- Checks the files that the workload writes. After a run that failed, each has its old or its complete new contents;
-- after a run that succeeded, the new ones.
local function files_whole(n, ok)
  for path, new in pairs(after) do
    local now = bytes_of(path)
    if ok and now ~= new or not ok and now ~= new and now ~= before[path] and not work.partial then
      found(n, "damaged " .. path)
    end
  end
end

if args.count then
  if work.before then work.before() end
  local _, _, _, made = without(0, work.new())
  return print(made .. " allocations")
end

local failed, tried, n = 0, 0, args.first
while true do
  if work.before then work.before() end
  local state = work.new()
  io.write(n, "\n")
  io.flush()
  local ok, said, results, made = without(n, state)
  tried = tried + 1
  if not ok then
    failed = failed + 1
    if not core.error_text(said):find "memory" then found(n, core.error_text(said)) end
  elseif text_of(table.unpack(results, 1, results.n)) ~= expected then
    found(n, "other results")
  end
  names_known(n)
  files_whole(n, ok)
  if work.partial or n % 10 == 0 then
    local good, again = pcall(work.run, work.partial and work.new() or state)
    if not good then found(n, "fails afterwards: " .. core.error_text(again)) end
  end
  if made < n then break end
  n = n + args.stride
end
if text_of(work.run(work.new())) ~= expected then found(n, "other results at last") end
print(("%s: %d tried, %d errors"):format(args.work, tried, failed))
