-- Compares two threads with two copies of the one-thread program that run at the same time. The copies show the speed
-- that the machine's cores can reach together, because they share caches and memory, too. Each workload runs in three
-- ways in turn: a program with one thread, two such programs at once, and a program with two threads. Columns:
-- milliseconds of an epoch or a call (wall time, the shortest turn); "of copies", the throughput with two threads over
-- that of both copies; "of one thread", the throughput with two threads over that of one program alone.
-- Usage: moonrank tests/bench/threads.lua [--works NAME,NAME] [--quick] [--turns 7] [--csv FILE]
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")
local turns = dofile(bench.folder .. "turns.lua")

local works, names = {}, {}

-- Adds a workload. `make(quick, path)` returns a function that does the work, how many epochs it consists of (default
-- 1), and how often a turn repeats it (default 1). `make` may write files whose paths begin with `path`.
local function work(name, title, make) works[name], names[#names + 1] = { title = title, make = make }, name end

-- Number of epochs of these jobs of jobs.lua, so many that the setup of a training run does not count.
local epochs_of_jobs = { bpr = 6, squared_error = 10, network_ndcg = 3, network_lambdarank = 3 }
for _, job in ipairs(dofile(bench.folder .. "jobs.lua")) do
  if job.usual and job.name ~= "sweep" and job.name ~= "trees" then
    local function options(quick)
      local o = {}
      for key, value in pairs(quick and job.quick or job.usual) do o[key] = value end
      o.epochs = epochs_of_jobs[job.name]
      return o
    end
    local function title(quick) return (job.workload(options(quick)):gsub("%d+ epochs of", "an epoch of")) end
    work(job.name, title, function(quick, path)
      local o = options(quick)
      o.path = path
      if job.input then job.input(o) end
      return job.work(o), o.epochs, o.repeats
    end)
  end
end

local trainings = dofile(bench.folder .. "trainings.lua")
for _, training in ipairs(trainings.list) do
  local name, title, epochs, made = table.unpack(training)
  work(name, function() return title end, function() return trainings.runner(epochs, made), epochs end)
end

-- Called with a workload's name, this process only runs this workload, once each time that its parent says so.
if works[arg[1]] then
  local step, count, repeats = works[arg[1]].make(arg[2] == "quick", arg[3])
  step()
  return turns.serve(step, count, repeats)
end

bench.need_wall_time()
local args = bench.args{
  works = { default = names, choices = names, help = "which works are measured" },
  quick = { default = false, help = "two turns, and small made-up data for the jobs of native.lua" },
  turns = { default = 7, help = "turns of each way; the shortest counts" },
}
local temporary <close> = bench.temporary()
core.make_folder(temporary.path .. "/x")

local function start(name, number, threads)
  local path = ("%s/%s_%d"):format(temporary.path, name, number)
  return turns.start(("'%s' --threads %d '%sthreads.lua' %s %s '%s.input'"):format(bench.program, threads,
    bench.folder, name, args.quick and "quick" or "usual", path), path)
end

-- Returns the shortest times of a workload in seconds: with one thread, of two copies at the same time, and with two
-- threads. Returns nil and the reason if a program failed.
local function measure(name)
  local one, other, two = start(name, 1, 1), start(name, 2, 1), start(name, 3, 2)
  local alone, copies = math.huge, math.huge
  for _ = 1, args.quick and 2 or args.turns do
    one:turn()
    alone = math.min(alone, one.wall[#one.wall] or alone)
    turns.together(one, other)
    copies = math.min(copies, ((one.wall[#one.wall] or 0) + (other.wall[#other.wall] or 0)) / 2)
    two:turn()
  end
  for _, program in ipairs{ one, other, two } do program:stop() end
  local reason = one.reason or other.reason or two.reason
  if reason then return nil, reason end
  return { alone = alone, copies = copies, two = math.min(table.unpack(two.wall)) }
end

local columns = { "work", "one thread, ms", "copies, ms", "two threads, ms", "of copies", "of one thread", "note" }
local formats = { ["of copies"] = "%.2f", ["of one thread"] = "%.2f" }
for i = 2, 4 do formats[columns[i]] = "%.4g" end
local rows = {}
for _, name in ipairs(args.works) do
  io.stderr:write(name, "\n")
  local t, reason = measure(name)
  local title = works[name].title(args.quick)
  rows[#rows + 1] = t and { title, t.alone * 1e3, t.copies * 1e3, t.two * 1e3, t.copies / (2 * t.two), t.alone / t.two }
    or { title, nil, nil, nil, nil, nil, reason }
end
bench.finish("Two threads beside two copies of the program with one thread.", rows, args.csv, columns, formats)
