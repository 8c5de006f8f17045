-- Random calls of the whole core, or of the library, in sessions of their own seed and process; a session that crashes or hangs is made as short as possible and
-- kept as a script, found/SEED.lua, which `moonrank run.lua --replay FILE` runs again.
local mr = require "moonrank"
local core = require "moonrank.core"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local args = mr.args{
  part = { default = "core", choices = { "core", "library" }, help = "the core's functions, or the library's examples with changes" },
  seed = { default = 1, help = "of the first session; the next ones have the next seeds" },
  sessions = { default = 10, least = 1, help = "how many" },
  calls = { default = 3000, least = 1, help = "of each session" },
  seconds = { default = 60, least = 1, help = "that a session may take" },
  memory = { default = 6, least = 1, help = "GiB of addresses that a session may have" },
  found = { default = "found", help = "folder for what is found" },
  only = { default = "", help = "the session with the seed alone, in this process: its record goes to this file" },
  replay = { default = "", help = "runs a record again, in this process" },
}

local session = dofile(here .. (args.part == "core" and "session.lua" or "library.lua"))

-- What a session said: lines "worked NAME COUNT" and "found TEXT".
local function report(result)
  for name, count in pairs(result.worked) do print(("worked %s %d"):format(name, count)) end
  for _, each in ipairs(result.found) do print("found " .. core.safe_text(each)) end
end

if args.replay ~= "" then
  local result = session.replay()
  local chunk = assert(loadfile(args.replay, "t", result.scope))
  chunk()
  return report(result)
end

if args.only ~= "" then
  local record <close> = assert(io.open(args.only, "w"))
  return report(session.calls(args.seed, args.calls, record))
end

local absolute = here:sub(1, 1) == "/" and here or io.popen("pwd"):read() .. "/" .. here

-- A folder with a file of each kind, in which a session runs.
local make_files = [[rm -rf %s && mkdir -p %s/folder && cd %s && mkfifo fifo &&
printf '1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:0\n' > letor.txt &&
printf 'file,label,user,item,rating\npicture.png,3,1,2,5\n' > labels.csv && cp %s../golden/pictures/colour.png picture.png &&
head -c 300 %s../golden/pictures/colour.jpg > broken.jpg && printf 'q Q0 a 1 2 t\n' > run.txt && printf 'q 0 a 1\n' > qrels.txt &&
printf '2 2 3\n1 1\n' > libraries.txt]]

-- Runs the program with these words in a fresh folder; returns its status and what it said. 128 and more are signals.
local function child(words, name, seconds)
  local folder = ("%s/%s"):format(args.found, name)
  assert(os.execute(make_files:format(folder, folder, folder, absolute, absolute)))
  local program = os.getenv "MOONRANK" or "moonrank"
  local command = ("cd %s && ulimit -v %d && timeout -s KILL %d %s %srun.lua %s > said 2>&1 < /dev/null"):format(folder, args.memory << 20,
    seconds or args.seconds, program, absolute, words)
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

-- Fewer lines that still end with this status: pieces are left out, ever smaller ones. What hangs is given less time here.
local most_tries, killed, while_shortened = 400, 137, 5
local function shortened(lines, status, name)
  local tries = 0
  local function ends_so(some)
    tries = tries + 1
    if tries > most_tries then return false end
    write_lines(args.found .. "/short.lua", some)
    local seconds = status == killed and while_shortened or args.seconds
    return child(("--part %s --replay ../short.lua"):format(args.part), name, seconds) == status
  end
  local size = #lines // 2
  while size >= 1 do
    local at = 1
    while at <= #lines do
      local rest = table.move(lines, 1, at - 1, 1, {})
      table.move(lines, at + size, #lines, #rest + 1, rest)
      if #rest > 0 and ends_so(rest) then lines = rest else at = at + size end
    end
    size = size // 2
  end
  os.remove(args.found .. "/short.lua")
  return lines
end

local function words_of(seed) return ("--part %s --seed %d --calls %d --only record.lua"):format(args.part, seed, args.calls) end

local worked, found, ended, calls = {}, {}, 0, 0
for seed = args.seed, args.seed + args.sessions - 1 do
  local name = "session" .. seed
  local status, said = child(words_of(seed), name)
  for each, count in said:gmatch "worked ([^\n]+) (%d+)\n" do worked[each] = (worked[each] or 0) + math.tointeger(tonumber(count)) end
  for each in said:gmatch "found ([^\n]+)" do
    local short = each:match "stdlib/[^:]+:%d+" or each:gsub("%[.*", ""):gsub("%d+", "N")
    if not found[short] then found[short] = ("seed %d: %s"):format(seed, each) end
  end
  local record = read_lines(("%s/%s/record.lua"):format(args.found, name))
  calls = calls + #record
  if status ~= 0 then
    ended = ended + 1
    local path = ("%s/%d.lua"):format(args.found, seed)
    write_lines(path, status == 1 and record or shortened(record, status, name))
    io.stdout:setvbuf "line"
    print(("seed %d ended with status %d after %d lines: %s\n%s"):format(seed, status, #record, path, said:sub(-500)))
  end
  os.execute(("rm -rf %s/%s"):format(args.found, name))
end

local silent, all = {}, session.names()
for _, each in ipairs(all) do
  if not worked[each] then silent[#silent + 1] = each end
end
print(("%d calls in %d sessions, %d of %d functions worked at least once, %d sessions ended early"):format(calls, args.sessions,
  #all - #silent, #all, ended))
if #silent > 0 then print("never worked: " .. table.concat(silent, " ")) end
local texts = {}
for _, text in pairs(found) do texts[#texts + 1] = text end
table.sort(texts)
for _, text in ipairs(texts) do print("found " .. text) end
if ended > 0 or #texts > 0 then os.exit(1, true) end
