-- Measures each job of jobs.lua in Moonrank beside the fastest native programs for it (peers), and beside limits of the
-- machine. All programs use one thread. Moonrank and a peer work in turn, so a machine that slows down slows both. The
-- ratio in a row is the median over pairs of turns. Columns: milliseconds (CPU time with MOONRANK_CLOCK=cpu), the
-- peer's time over ours and the goal for it, milliseconds by the other clock, and the peak memory of the process. The
-- row of a peer that cannot run says why.
-- Usage: moonrank tests/bench/native.lua [--jobs NAME,NAME] [--without PEER,PEER] [--quick | --full] [--turns 5]
--   [--csv FILE]
-- The usual sizes take minutes, the quick ones seconds. `--full` adds the largest sizes. ./bootstrap bench --peers
-- installs the peers.
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")
local turns = dofile(bench.folder .. "turns.lua")
local jobs = dofile(bench.folder .. "jobs.lua")

local names, by_name = {}, {}
for i, job in ipairs(jobs) do names[i], by_name[job.name] = job.name, job end

-- Called as native.lua NAME option=value ..., this process only runs the job NAME, one turn each time that its parent
-- says so.
if by_name[arg[1]] then
  local o = {}
  for i = 2, #arg do
    local name, value = arg[i]:match "^(.-)=(.*)$"
    o[name] = tonumber(value) or value
  end
  core.threads(1)
  local work = by_name[arg[1]].work(o)
  if not o.cold then work() end
  return turns.serve(work, 1, o.repeats)
end

local args = bench.args{
  jobs = { default = names, choices = names, help = "which jobs are measured" },
  without = { default = { "none" }, help = "peers that are left out, such as recometrics or PyTorch" },
  quick = { default = false, help = "small sizes and two turns" },
  full = { default = false, help = "the largest sizes, too: an hour" },
  turns = { default = 5, help = "turns of a peer and of ours; the median counts" },
  seconds = { default = 120, help = "no further turns of a pair are begun after so many seconds" },
}
local by_processor = bench.clock == os.clock
local temporary <close> = bench.temporary()
core.make_folder(temporary.path .. "/x")

local columns, formats = { table.unpack(bench.columns) }, { ["peak MiB"] = "%.0f" }
local other_clock = by_processor and "wall ms" or "cpu ms"
for _, name in ipairs{ other_clock, "peak MiB", "goal" } do columns[#columns + 1] = name end
for name, format in pairs(bench.formats) do formats[name] = format end
formats[other_clock] = formats.ms

-- Returns options as quoted words "name=value" of a shell command, sorted by name.
local function words_of(options)
  local words = {}
  for name, value in pairs(options) do words[#words + 1] = ("'%s=%s'"):format(name, value) end
  table.sort(words)
  return table.concat(words, " ")
end

-- Returns the shell command that starts a program: a file of tests/bench or tests/bench/peers, the name of its job or
-- mode, and options. A C++ program is first compiled for this machine.
local function command_of(words, options)
  local file, mode = words:match "^(%S+) (%S+)$"
  if file == "native.lua" then
    return ("'%s' '%snative.lua' %s %s"):format(bench.program, bench.folder, mode, words_of(options))
  end
  if not file:find "%.cpp$" then
    return ("python3 '%speers/%s' %s %s"):format(bench.folder, file, mode, words_of(options))
  end
  local program = temporary.path .. "/" .. file:gsub("%W", "_")
  if not core.is_file(program) then
    os.execute(("c++ -O3 -march=native -std=c++17 -o '%s' '%speers/%s'"):format(program, bench.folder, file))
  end
  return ("'%s' %s %s"):format(program, mode, words_of(options))
end

local started = 0
local function start(words, options)
  started = started + 1
  return turns.start(command_of(words, options), ("%s/%d"):format(temporary.path, started), options.minutes)
end

-- Returns a program's times by the clock that the run was started with (wall or CPU time), then by the other clock.
local function clocks(program)
  if by_processor then return program.cpu, program.wall end
  return program.wall, program.cpu
end

local rows, left_out = {}, {}
-- True for the name of a peer, or for its part before a comma, such as "PyTorch" for "PyTorch, eager".
local function is_named(program, name) return program == name or program:sub(1, #name + 1) == name .. "," end
for _, name in ipairs(args.without) do
  local is_known = name == "none"
  for _, job in ipairs(jobs) do
    for _, peer in ipairs(job.peers or {}) do
      if is_named(peer.program, name) then is_known, left_out[peer.program] = true, true end
    end
  end
  if not is_known then error(core.exit(2, ("--without: there is no peer '%s'"):format(name)), 0) end
end

-- Adds a row to the table. `ratio` is the time of the compared program over that of Moonrank.
local function add(workload, program, name, ratio, note, goal)
  local times, others = clocks(program)
  local t, other = {}, {}
  if #times > 0 then t, other = bench.spread_of{ table.unpack(times) }, bench.spread_of{ table.unpack(others) } end
  local function ms(seconds) return seconds and seconds * 1e3 end
  rows[#rows + 1] = { workload, name, 1, ms(t.median), ms(t.least), ms(t.most), ratio, program.reason or note,
    ms(other.median), program.peak and program.peak / 1024, goal and ("%.3g"):format(goal) }
end

-- Lets Moonrank and a peer (a compared program) work in turn. Returns the median over turns of the peer's time over
-- ours, or nil if a program failed at once.
local function ratio_of(ours, peer)
  local began, ratios = core.clock(), {}
  for _ = 1, args.quick and 2 or args.turns do
    ours:turn()
    peer:turn()
    if ours.reason or peer.reason then break end
    local mine, theirs = clocks(ours), clocks(peer)
    ratios[#ratios + 1] = theirs[#theirs] / math.max(mine[#mine], 1e-9)
    if core.clock() - began > args.seconds then break end
  end
  return #ratios > 0 and bench.spread_of(ratios).median or nil
end

-- Measures one job of jobs.lua at one of its sizes: Moonrank in turn with each program that it is compared with.
local function measure(job, name_of_size)
  local size = job[name_of_size]
  local o = { table.unpack(size) }
  for name, value in pairs(size) do o[name] = value end
  o.path = ("%s/input_%s"):format(temporary.path, job.name)
  if job.input then job.input(o) end
  local ours, found = start("native.lua " .. job.name, o), {}
  local peers = {}
  for _, peer in ipairs(job.peers or {}) do
    local is_left_out = os.getenv "MOONRANK_PEERS" == "none" or left_out[peer.program]
    peers[#peers + 1] = not is_left_out and peer or nil
  end
  for i, peer in ipairs(peers) do
    local why = name_of_size == "full" and peer.left_out
    local own = { table.unpack(o) }
    for _, more in ipairs{ o, peer.options or {} } do
      for name, value in pairs(more) do own[name] = value end
    end
    local program = why and { wall = {}, cpu = {}, reason = "left out: " .. why } or start(peer.words, own)
    found[i] = { program, not why and ratio_of(ours, program) or nil }
    if not why then program:stop() end
  end
  if #ours.wall == 0 then ours:turn() end
  ours:stop()
  os.execute(("rm -f '%s'*"):format(o.path))
  local workload = job.workload(o)
  add(workload, ours, "moonrank", #ours.wall > 0 and 1 or nil)
  for i, each in ipairs(found) do
    local peer = peers[i]
    add(workload, each[1], peer.program, each[2], peer.note, peer.goal)
  end
end

local chosen = {}
for _, name in ipairs(args.jobs) do chosen[name] = true end
for _, job in ipairs(jobs) do
  for _, size in ipairs{ args.quick and "quick" or "usual", args.full and "full" or nil } do
    if chosen[job.name] and job[size] then
      io.stderr:write(("%s, %s size\n"):format(job.name, size))
      measure(job, size)
    end
  end
end

if #rows == 0 then error("native.lua: the chosen jobs have only the full size; pass --full", 0) end
local versions = os.getenv "MOONRANK_PEERS" ~= "none" and bench.peer_lines("versions.py")[1]
bench.finish("Jobs beside native programs, one thread.", rows, args.csv, columns, formats, versions)
