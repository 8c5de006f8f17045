-- Runs all benchmarks one after the other, Moonrank's and those of other libraries (peers), and prints its progress.
-- Writes one table, results/bench/bench.txt and bench.csv, and a chart, results/bench/time_against_n.svg and .png: the
-- time of smooth AP against the number of rows of a list, with the limits of the machine.
-- Usage: moonrank tests/bench/all.lua [--quick] [--no-peers] [--cpu] [--parts NAME,NAME]
-- `--quick` takes a few minutes, with few sizes and repeats. `--cpu` is for a machine that is shared with other users:
-- it uses one thread and measures CPU time. `--parts` runs only the named benchmarks. The tables then keep the rows of
-- other benchmarks from earlier runs in the same folder.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

-- Each entry of `parts` is one benchmark: the name of its script, options of a full run, options of a quick run, and
-- about how many seconds each takes, from which the remaining time is estimated. `as` is the base name of its output
-- files, if it is not the script's. A full run measures epochs.lua with one loss and one negative per relevant row
-- only, because PyTorch would take hours for all of them.
local parts = {
  { "kernels", "--most 512",
    "--rows 32,512,8192,222472 --shapes normal,spread --forms padded,approxndcg --most 512 --repeats 3", 600, 40 },
  { "losses", "",
    "--losses ranknet,listnet,bce,top_n_rank --total 4096 --threads 1 --forms plain --repeats 3", 1500, 40 },
  { "epochs", "--sets movielens --nsr 1 --losses ap", "--sets movielens --nsr 1 --losses ap --epochs 5 "
    .. "--forms relevant --peer_epochs 1 --warm 1", 300, 25, as = "movielens" },
  { "epochs", "--sets citeulike --losses ap", nil, 400, 0, as = "citeulike" },
  { "epochs", "--sets mq2008 --losses ap", "--sets mq2008 --losses ap --epochs 5 --forms relevant --peer_epochs 1 "
    .. "--warm 1", 200, 20, as = "mq2008" },
  { "catalogue", "", "--items 5000,50000 --epochs 3", 60, 10 },
  { "steps", "", "--optimizers adam,adamw,rmsprop --warm 50 --steps 10 --blocks 3", 300, 20 },
  { "long_list", "", "--rows 20000 --epochs 3", 20, 5 },
  { "own_models", "", "--turns 1 --epochs 2", 90, 20 },
  { "metrics", "", "--repeats 3", 120, 40 },
  { "native", "", "--quick", 1800, 120 },
  { "distributions", "", "--repeats 1 --numpy_samples 3000", 120, 15 },
  { "sweeps", "", "--trials 500 --real 8 --large 5000", 90, 15 },
  { "scale", "", "--times 0.05 --epochs 1", 600, 30 },
  { "start", "", "--repeats 10", 30, 10 },
}
local names = {}
for i, part in ipairs(parts) do names[i] = part.as or part[1] end

local args = mr.args{
  quick = { default = false, help = "few sizes, data sets and repeats" },
  full = { default = false, help = "the largest sizes of native.lua, too: hours" },
  peers = { default = true, help = "the libraries that python3 has; --no-peers: ours alone" },
  cpu = { default = false, help = "one thread and its CPU time, instead of one and two and the clock" },
  parts = { default = names, choices = names, help = "which parts are measured" },
  limits = { default = "build/release/moonrank_bench", help = "the program that measures what the machine can do" },
  out = { default = "results/bench", help = "the folder for the results" },
}

bench.check_sizes(args)
if args.cpu then bench.clock = os.clock end

local chosen = {}
for _, name in ipairs(args.parts) do chosen[name] = true end
for i, name in ipairs(names) do chosen[i] = chosen[name] and not (args.quick and not parts[i][3]) end

local function time_left(from)
  local left = 0
  for i = from, #parts do left = left + (chosen[i] and parts[i][args.quick and 5 or 4] or 0) end
  return left < 100 and left .. " s" or math.ceil(left / 60) .. " min"
end

-- Returns the rows of the CSV file that one benchmark wrote, with numbers in the numeric columns.
local function rows_in(path)
  local rows = bench.read(io.lines(path))
  for _, row in ipairs(rows) do
    for c = 3, 7 do row[c] = tonumber(row[c]) end
    for c = #bench.columns + 1, #row do row[c] = nil end
  end
  return rows
end

-- Runs one benchmark with its output in a log file, and returns the rows that it measured.
local function run(number)
  local name, full, quick = table.unpack(parts[number])
  print(("[%d/%d] %s; about %s left"):format(number, #parts, names[number], time_left(number)))
  local path = ("%s/%s"):format(args.out, names[number])
  -- without this variable, a second run would read the samples that the first one cached, instead of drawing them
  local variables = "MOONRANK_SAMPLES_GIB=0 " .. (args.peers and "" or "MOONRANK_PEERS=none ")
    .. (args.cpu and "MOONRANK_CLOCK=cpu " or "")
  local has_threads = name ~= "sweeps" and name ~= "start" and name ~= "native" and name ~= "steps"
  local options = (args.quick and quick or full) .. (args.cpu and has_threads and " --threads 1" or "")
    .. (args.full and name == "native" and " --full" or "")
  local command = ("%s'%s' '%s%s.lua' %s --csv '%s.csv' >'%s.log' 2>&1"):format(
    variables, bench.program, bench.folder, name, options, path, path)
  if not os.execute(command) then
    print(("  it failed: %s.log says why"):format(path))
    return {}
  end
  return rows_in(path .. ".csv")
end

-- Returns the limits of one core: bytes copied, divisions and multiply-adds per second. The table is empty if the
-- program that measures them is missing.
local function limits()
  local found = {}
  local pipe = io.popen(("'%s' --benchmark_filter=limit_ --benchmark_format=csv 2>/dev/null"):format(args.limits))
  for _, row in ipairs(bench.read(pipe:lines())) do
    local name = row[1]:match "limit_([%a_]+)"
    if name then found[name] = tonumber(row[6]) or tonumber(row[7]) end
  end
  pipe:close()
  return found
end

-- Returns the curves of a chart, one per program: seconds of a step (y) against the rows of a list (x), for normally
-- distributed scores.
local function series_of(rows)
  local programs, order = {}, {}
  for _, row in ipairs(rows) do
    local n = row[1]:match "^AP step of (%d+) rows, normal"
    if n and row[4] then
      local name = ("%s, %d thread%s"):format(row[2], row[3], row[3] == 1 and "" or "s")
      if not programs[name] then
        programs[name] = { name = name, x = {}, y = {} }
        if row[2] == "moonrank" or row[3] == 1 then order[#order + 1] = programs[name] end
      end
      table.insert(programs[name].x, tonumber(n))
      table.insert(programs[name].y, row[4])
    end
  end
  return order
end

local function plot(rows, most)
  local series = series_of(rows)
  if #series == 0 then return end
  local sizes = series[1].x
  local function line(name, rate, work)
    if not rate then return end
    local y = {}
    for i, n in ipairs(sizes) do y[i] = work(n) / rate * 1e3 end
    series[#series + 1] = { name = name, x = sizes, y = y, style = "dotted" }
  end
  line("limit: a division per pair", most.division, function(n) return n * n / 2 end)
  line("limit: 9 multiply-adds per row", most.multiply_add, function(n) return 9 * n end)
  line("limit: scores read, derivatives written", most.copy, function(n) return 8 * n end)
  local figure = mr.plot.lines{ series = series, xlog = true, ylog = true, xlabel = "rows of the list",
    ylabel = "milliseconds", title = "One step of smooth AP of one list, normal scores", width = 860, height = 520,
    caption = most.copy
      and "Limits of one core, measured in the same run: of the sums over pairs, of the sums over boxes, of memory."
      or args.limits .. " is not there, which would measure the machine's limits." }
  for _, kind in ipairs{ "svg", "png" } do figure:save(("%s/time_against_n.%s"):format(args.out, kind)) end
end

core.make_folder(args.out .. "/x")
local rows = {}
for number = 1, #parts do
  local path, found = ("%s/%s.csv"):format(args.out, names[number]), {}
  if chosen[number] then found = run(number) elseif core.is_file(path) then found = rows_in(path) end
  table.move(found, 1, #found, #rows + 1, rows)
end
local most = limits()
plot(rows, most)
local versions = args.peers and bench.peer_lines("versions.py")[1] or ""
io.write(bench.write("All benchmarks.", rows, args.out .. "/bench.csv",
  bench.where() .. (versions ~= "" and ", " .. versions or "")))
if most.copy then
  print(("Limits of one core: %.1f GB/s copied, %.2f divisions and %.2f multiply-adds per ns, "
    .. "single precision."):format(most.copy / 1e9, most.division / 1e9, most.multiply_add / 1e9))
end
if #args.parts == #parts then os.execute(("'%s' '%sdevices.lua'"):format(bench.program, bench.folder)) end
