-- Makes random calls of the native core or of the library. Each session has its own seed and process. A session that
-- crashes, hangs or violates a claim is shortened as far as possible and saved as a script, found/SEED.lua, which
-- `moonrank run.lua --replay FILE` runs again.
local mr = require "moonrank"
local core = require "moonrank.core"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local args = mr.args{
  part = { default = "core", choices = { "core", "library" },
    help = "the core's functions, or the library's examples with changes" },
  seed = { default = 1, help = "of the first session; the next ones have the next seeds" },
  sessions = { default = 10, least = 1, help = "how many" },
  calls = { default = 3000, least = 1, help = "of each session" },
  seconds = { default = 60, least = 1, help = "of a processor that a session may take" },
  shorten = { default = 120, least = 0, help = "seconds that shortening may take" },
  memory = { default = 6, least = 1, help = "GiB of addresses that a session may have" },
  first = { default = false, help = "ends with the first session that finds something" },
  found = { path = "new folder", default = "found", help = "folder for what is found" },
  only = { path = "new file", default = "",
    help = "the session with the seed alone, in this process: its record goes to this file" },
  replay = { path = "file", default = "", help = "runs a record again, in this process" },
  short = { path = "file", default = "", help = "makes a record shorter" },
}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local session = dofile(here .. (args.part == "core" and "session.lua" or "library.lua"))

-- Prints the result of a session: lines "worked NAME COUNT" and "found TEXT".
local function report(result)
  for name, count in pairs(result.worked) do print(("worked %s %d"):format(name, count)) end
  for _, each in ipairs(result.found) do print("found " .. core.safe_text(each)) end
end

if args.replay ~= "" then
  local result = session.replay()
  for line in io.lines(args.replay) do result.run(line) end
  return report(result)
end

if args.only ~= "" then
  local record <close> = assert(io.open(args.only, "w"))
  return report(session.calls(args.seed, args.calls, record))
end

local absolute = here:sub(1, 1) == "/" and here or io.popen("pwd"):read() .. "/" .. here

-- Shell commands that make a folder with one file of each kind, in which a session runs.
local make_files = [[rm -rf %s && mkdir -p %s/folder && cd %s && mkfifo fifo &&
printf '1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:0\n' > letor.txt &&
printf 'file,label,user,item,rating\npicture.png,3,1,2,5\n' > labels.csv &&
cp %s../golden/pictures/colour.png picture.png && head -c 300 %s../golden/pictures/colour.jpg > broken.jpg &&
printf 'q Q0 a 1 2 t\n' > run.txt && printf 'q 0 a 1\n' > qrels.txt &&
printf '2 2 3\n1 1\n' > libraries.txt && mkdir folds && cp letor.txt folds/train.txt && cp letor.txt folds/test.txt]]

-- Factor by which the time limit of a child process exceeds its limit of CPU time, because other programs may use the
-- machine. A process that waits for ever uses no CPU time.
local waits = 10

-- Runs the program with these arguments in a fresh folder. Returns its exit status and its output. A status of 128 or
-- more means that a signal ended it.
local function child(words, name, seconds)
  local folder = ("%s/%s"):format(args.found, name)
  local place = quoted(folder)
  assert(os.execute(make_files:format(place, place, place, quoted(absolute), quoted(absolute))))
  local program = os.getenv "MOONRANK" or "moonrank"
  seconds = seconds or args.seconds
  local command = ("cd %s && ulimit -v %d && ulimit -t %d && timeout -s KILL %d %s %s %s "
    .. "> said 2>&1 < /dev/null"):format(
    place, args.memory << 20, seconds, waits * seconds, quoted(program), quoted(absolute .. "run.lua"), words)
  local _, _, status = os.execute(command)
  local file <close> = assert(io.open(folder .. "/said"))
  return status, file:read "a"
end

local function read_lines(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

local function write_lines(path, lines)
  local file <close> = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
end

-- Returns a finding's text without numbers and other parts that differ from call to call, to compare findings.
local function kind_of(text) return text:match "stdlib/[^:]+:%d+" or text:gsub("%[.*", ""):gsub("%d+", "N") end

local function kinds_in(said)
  local kinds = {}
  for each in said:gmatch "found ([^\n]+)" do kinds[kind_of(each)] = kinds[kind_of(each)] or each end
  return kinds
end

-- Shortens a recorded session: leaves out ever smaller groups of lines as long as same(lines) stays true, for a limited
-- time.
local function shortened(lines, same)
  local began, size = core.clock(), #lines // 2
  while size >= 1 do
    local at = 1
    while at <= #lines and core.clock() - began < args.shorten do
      local rest = table.move(lines, 1, at - 1, 1, {})
      table.move(lines, at + size, #lines, #rest + 1, rest)
      if #rest > 0 and same(rest) then lines = rest else at = at + size end
    end
    size = size // 2
  end
  return lines
end

-- Saves a session that ends with this status, or with a finding of this kind, with as few lines as still show it. Runs
-- that hang get a shorter time limit while lines are left out.
local killed, while_shortened = 137, 5
local function keep(seed, record, status, kind)
  local name = "session" .. seed
  local function same(lines)
    write_lines(args.found .. "/short.lua", lines)
    local seconds = status == killed and while_shortened or args.seconds
    local ended, said = child(("--part %s --replay ../short.lua"):format(args.part), name, seconds)
    return ended == status and (not kind or kinds_in(said)[kind] ~= nil)
  end
  local path, number = ("%s/%s.lua"):format(args.found, seed), 1
  while core.file_exists(path) do
    number = number + 1
    path = ("%s/%s-%d.lua"):format(args.found, seed, number)
  end
  write_lines(path, args.shorten > 0 and same(record) and shortened(record, same) or record)
  os.remove(args.found .. "/short.lua")
  return path
end

local worked, found, texts, ended, calls, made = {}, {}, {}, 0, 0, 0

local function one_session(seed)
  local name = "session" .. seed
  local status, said =
    child(("--part %s --seed %d --calls %d --only record.lua"):format(args.part, seed, args.calls), name)
  for each, count in said:gmatch "worked ([^\n]+) (%d+)\n" do
    worked[each] = (worked[each] or 0) + math.tointeger(tonumber(count))
  end
  local record = read_lines(("%s/%s/record.lua"):format(args.found, name))
  calls, made = calls + #record, made + 1
  if status ~= 0 then
    ended = ended + 1
    local path = keep(seed, record, status)
    print(("seed %d ended with status %d after %d lines: %s\n%s"):format(seed, status, #record, path, said:sub(-500)))
  end
  for kind, text in pairs(kinds_in(said)) do
    if not found[kind] then
      texts[#texts + 1] = ("found by seed %d: %s: %s"):format(seed, keep(seed, record, 0, kind), text)
    end
    found[kind] = true
  end
  os.execute("rm -rf " .. quoted(args.found .. "/" .. name))
end

io.stdout:setvbuf "line"

if args.short ~= "" then
  local record = read_lines(args.short)
  assert(os.execute("mkdir -p " .. quoted(args.found)))
  write_lines(args.found .. "/short.lua", record)
  local status, said = child(("--part %s --replay ../short.lua"):format(args.part), "sessionshort-of")
  local kind, text = next(kinds_in(said))
  if status == 0 and not kind then error(args.short .. ": these lines end nothing and find nothing", 0) end
  print(("%s: %s"):format(keep("short-of", record, status, kind), text or "status " .. status))
  return
end

for seed = args.seed, args.seed + args.sessions - 1 do
  one_session(seed)
  if args.first and ended + #texts > 0 then break end
end

local silent, all = {}, session.names()
for _, each in ipairs(all) do
  if not worked[each] then silent[#silent + 1] = each end
end
print(("%d calls in %d sessions, %d of %d functions worked at least once, %d sessions ended early"):format(calls, made,
  #all - #silent, #all, ended))
if #silent > 0 then print("never worked: " .. table.concat(silent, " ")) end
table.sort(texts)
for _, text in ipairs(texts) do print(text) end
if ended > 0 or #texts > 0 then os.exit(1, true) end
