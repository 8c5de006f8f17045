-- Compares two builds of Moonrank on one machine: runs the benchmark scripts with both in turn, so that a machine that
-- slows down slows both. Short benchmarks run `--rounds` times. It measures the start of the program; epochs (also in
-- CPU time); catalogues; one long list; large data with their memory; and table_5_1.lua with and without a cache of
-- samples. For table_5_1.lua, each build uses the scripts of its own source tree and its own cache and store. A row's
-- time is the median of the medians of the rounds; least and most are over all rounds.
-- Usage: moonrank tests/bench/two_programs.lua --before PROGRAM --before_tree FOLDER [--parts epochs,start] [--out
-- results/before_after] [--quick]
-- The folder of --out gets before.csv, after.csv, and table.md with both side by side (before_after.lua).
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

-- Each entry of `parts` is a benchmark: name, script, options of a full and of a quick run, and about how many seconds
-- both builds take in a full run (in one round, if there are several). `once` marks a long benchmark, which runs in one
-- round only. `processor` marks a benchmark that is also measured in CPU time of all threads, in rows that say so.
local parts = {
  { name = "start", script = "start", full = "--repeats 30", quick = "--repeats 3", seconds = 7 },
  { name = "epochs", script = "epochs", full = "--nsr 1 --forms none --epochs 25",
    quick = "--nsr 1 --forms none --epochs 1 --losses ap", seconds = 20, processor = true },
  { name = "catalogue", script = "catalogue", full = "--optimizers adam --epochs 8 --ways alone,validated",
    quick = "--optimizers adam --epochs 1 --warm 1 --users 50 --items 500,5000 --ways alone,validated", seconds = 10 },
  { name = "list", script = "kernels", full = "--rows 222472 --shapes normal,spread --forms none --repeats 40",
    quick = "--rows 20000 --shapes normal --forms none --repeats 1", seconds = 4, processor = true },
  { name = "network", script = "long_list", full = "", quick = "--rows 5000 --epochs 1", seconds = 8,
    processor = true },
  { name = "scale", script = "scale", full = "", quick = "--times 0.001 --epochs 1", seconds = 210, once = true },
  { name = "table_5_1", seconds = 420, once = true },
}
local names, by_name = {}, {}
for i, part in ipairs(parts) do names[i], by_name[part.name] = part.name, part end

local args = mr.args{
  before = { type = "string", required = true, help = "the program before; the one after is the one that runs this" },
  before_tree = { type = "string", required = true, help = "the folder of its sources: table_5_1 runs scripts/ there" },
  parts = { default = names, choices = names, help = "what is measured" },
  rounds = { default = 5, help = "how often short parts are measured by each program, in turn" },
  quick = { default = false,
    help = "the least of everything, on made-up data where it trains for long: to see that both programs run it" },
  out = { default = "results/before_after", help = "the folder for tables, logs, stores and caches" },
}

local function leave(text, ...) error(core.exit(2, text:format(...)), 0) end

-- Returns a path as an absolute one, because the programs ignore a cache folder whose path is relative.
local function absolute(path)
  local pipe <close> = io.popen(("realpath '%s'"):format(path))
  return pipe:read "l"
end

if args.rounds < 1 then leave("--rounds: expected above 0, got %d", args.rounds) end
local sides = { { name = "before", program = args.before, tree = args.before_tree },
  { name = "after", program = bench.program, tree = bench.folder .. "../.." } }
for _, side in ipairs(sides) do
  if not core.is_file(side.program) then leave("there is no program %s", side.program) end
  if not core.is_file(side.tree .. "/scripts/thesis/table_5_1.lua") then
    leave("no scripts/thesis/table_5_1.lua in %s", side.tree)
  end
  side.rows, side.at, side.program, side.tree = {}, {}, absolute(side.program), absolute(side.tree)
end
local made, reason = pcall(core.make_folder, args.out .. "/x")
if not made then leave("--out: %s", reason) end
args.out = absolute(args.out)

-- Adds the times that one build had in one round to its row. The row is found by workload, program and threads.
local function keep(side, row)
  local key = table.concat({ row[1], row[2], row[3] }, "\0")
  if not side.at[key] then
    side.at[key] = { key = { row[1], row[2], math.tointeger(tonumber(row[3])) }, medians = {}, least = {}, most = {} }
    side.rows[#side.rows + 1] = side.at[key]
  end
  local kept = side.at[key]
  for name, c in pairs{ medians = 4, least = 5, most = 6 } do table.insert(kept[name], tonumber(row[c])) end
  kept.note = row[8] ~= "" and row[8] or kept.note
end

-- Runs a benchmark script with one of the two builds, and keeps the rows that it measured.
local function run_script(side, part, clock, round)
  local path = ("%s/%s_%s_%s_%d"):format(args.out, part.name, clock, side.name, round)
  local command = ("env -u MOONRANK_STDLIB MOONRANK_PEERS=none MOONRANK_CLOCK=%s "
    .. "'%s' '%s%s.lua' %s --csv '%s.csv' >'%s.log' 2>&1"):format(
    clock, side.program, bench.folder, part.script, args.quick and part.quick or part.full, path, path)
  os.remove(path .. ".csv")
  if not (os.execute(command) and core.is_file(path .. ".csv")) then
    return print(("  it failed: %s.log says why"):format(path))
  end
  for _, row in ipairs(bench.read(io.lines(path .. ".csv"))) do
    if clock == "cpu" then row[1] = row[1] .. ", processor time" end
    if row[2]:find "^moonrank" and tonumber(row[4]) then keep(side, row) end
  end
  side.where = side.where or io.lines(path .. ".txt")():match "least and most%. (.*)%.$"
end

-- Runs table_5_1.lua with an empty store, and returns the milliseconds of wall time and of CPU time, child processes
-- included. Returns nothing if it fails.
local function table_5_1(side, what)
  local path = ("%s/table_5_1_%s_%s"):format(args.out, side.name, what)
  local command = ([[rm -rf '%s'.db* && unset MOONRANK_STDLIB MOONRANK_SAMPLES_GIB &&
    export XDG_CACHE_HOME='%s/cache_%s' TIMEFORMAT="%%R %%U %%S" &&
    { time '%s' '%s/scripts/thesis/table_5_1.lua' --store '%s.db' %s >'%s.log' 2>&1 </dev/null; } \
    2>'%s.times']]):format(
    path, args.out, side.name, side.program, side.tree, path, args.quick and "--smoke" or "", path, path)
  local well = os.execute(("bash -c '%s'"):format(command:gsub("'", [['\'']])))
  local wall, user, system = (io.lines(path .. ".times")() or ""):match "([%d.]+) ([%d.]+) ([%d.]+)"
  if not well then return print(("  it failed: %s.log says why"):format(path)) end
  return { tonumber(wall) * 1e3, (user + system) * 1e3 }
end

local function run_table(side)
  os.execute(("rm -rf '%s/cache_%s'"):format(args.out, side.name))
  local function add(what, measured, note)
    for i, clock in ipairs(measured and { "", ", processor time" } or {}) do
      local workload, ms = ("table_5_1.lua from nothing, %s%s"):format(what, clock), measured[i]
      keep(side, { workload, "moonrank", core.threads(), ms, ms, ms, nil, note or "" })
    end
  end
  local cold = table_5_1(side, "cold")
  add("no samples kept", cold)
  -- an older build without a cache of samples is not run a second time, because it would repeat the same work
  local kept = core.is_file(side.tree .. "/runtime/bounds/samples/sample_store.h")
    or core.is_file(side.tree .. "/runtime/bounds/sample_store.h")
  add("samples kept", kept and table_5_1(side, "warm") or cold, not kept and "it keeps none: the same run" or nil)
end

-- The list of runs to make, one for each benchmark, round and clock (wall or CPU time), with the seconds each should
-- take.
local steps = {}
for _, name in ipairs(args.parts) do
  local part = by_name[name]
  for round = 1, (part.once or args.quick) and 1 or args.rounds do
    for _, clock in ipairs(part.processor and { "wall", "cpu" } or { "wall" }) do
      steps[#steps + 1] = { part = part, round = round, clock = clock, seconds = args.quick and 3 or part.seconds }
    end
  end
end

-- Writes the CSV tables of both builds with the rows so far, so that an interrupted run leaves its results.
local function write()
  for _, side in ipairs(sides) do
    local rows = {}
    for i, row in ipairs(side.rows) do
      local work, program, threads = table.unpack(row.key)
      rows[i] = { work, program, threads, bench.spread_of(row.medians).median, math.min(table.unpack(row.least)),
        math.max(table.unpack(row.most)), 1, row.note }
    end
    bench.write(("The program %s."):format(side.name), rows, ("%s/%s.csv"):format(args.out, side.name),
      side.where or bench.where())
  end
end

io.stdout:setvbuf "line"
for number, step in ipairs(steps) do
  local left = 0
  for i = number, #steps do left = left + steps[i].seconds end
  print(("[%d/%d] %s%s, round %d; about %s left"):format(
    number, #steps, step.part.name, step.clock == "cpu" and ", processor time" or "", step.round,
    left < 100 and left .. " s" or math.ceil(left / 60) .. " min"))
  for _, side in ipairs(sides) do
    if step.part.script then run_script(side, step.part, step.clock, step.round) else run_table(side) end
    write()
  end
end
os.execute(("cd '%s' && '%s' '%s/tests/bench/before_after.lua' before.csv after.csv | tee table.md"):format(
  args.out, sides[2].program, sides[2].tree))
