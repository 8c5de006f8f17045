-- Writes the tables of docs/speed.md from the files in docs/speed: ratios of one thread on a CPU, jobs beside native
-- programs, two threads, profiles, steps of optimizers, models of scripts, times on a GPU, a training loop of PyTorch,
-- and trees of XGBoost and LightGBM.
-- Each table stands between two lines of the page, <!-- begin NAME --> and <!-- end NAME -->.
-- Usage: moonrank tests/bench/page.lua [--page docs/speed.md] [--folder docs/speed]
local mr = require "moonrank"
local core = require "moonrank.core"
local wrap = require "moonrank.help.wrap"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = mr.args{
  page = { default = "docs/speed.md", help = "the page" },
  folder = { default = "docs/speed", help = "the folder of cpu.csv and h200.csv, each with a .txt" },
}

local works = {
  ["smooth AP step 4096 x 256"] = "smooth AP and its gradient, 4,096 lists of 256 rows",
  ["smooth nDCG 4096 x 256"] = "smooth nDCG, 4,096 lists of 256 rows",
  ["layer 262144 x 64"] = "a layer of 64 x 64 with ReLU, 262,144 rows",
  ["Adam 67 million"] = "a step of Adam, 67 million parameters",
  ["product 8192"] = "product of two 8,192 x 8,192 matrices (both by cuBLAS)",
  ["factor scores"] = "scores of a factor model, 1,048,576 rows of 32 factors",
  ["exact order 4096 x 1024"] = "exact order, 4,096 lists of 1,024 rows",
  ["copy 1 GiB"] = "a copy of 1 GiB",
  SL = "a step of SL, 1,024 interactions with 1,000 negatives of 40,988 items, 64 factors",
}

-- Returns a table of the GPU's times: when and where it was measured, and milliseconds in Moonrank and in PyTorch, with
-- the largest ratio first.
local function gpu_table()
  local rows = {}
  for _, row in ipairs(bench.read(io.lines(args.folder .. "/h200.csv"))) do
    local ours, theirs = tonumber(row[2]), tonumber(row[5])
    rows[#rows + 1] = { works[row[1]] or row[1], ours * 1e3, theirs * 1e3, theirs / ours }
  end
  table.sort(rows, function(a, b) return a[4] > b[4] end)
  for _, row in ipairs(rows) do row[4] = bench.ratio_text(row[4]) end
  local formats = { ms = "%.3f", ["PyTorch, ms"] = "%.3f" }
  local made = mr.table{ columns = { "work", "ms", "PyTorch, ms", "ratio" }, rows = rows, formats = formats }
  local first = io.lines(args.folder .. "/h200.txt")()
  return wrap.text("Measured: " .. first:match "median%. (.*)$", 100) .. "\n\n" .. made:to_markdown()
end

-- Returns a sentence on how much repeats of a measurement differ.
local function scatter()
  local found = {}
  for _, row in ipairs(bench.read(io.lines(args.folder .. "/cpu.csv"))) do
    local ms, least, most = tonumber(row[4]), tonumber(row[5]), tonumber(row[6])
    if ms then found[#found + 1] = (most - least) / ms end
  end
  local spread = bench.spread_of(found)
  return ("In half of the measurements the slowest and the fastest repeat differ by at most %.0f %% of the median "
    .. "repeat; the largest difference is %.0f %%."):format(100 * spread.median, 100 * spread.most)
end

local function cpu_table()
  local pipe = assert(io.popen(("'%s' '%sratios.lua' '%s/cpu.csv'"):format(bench.program, bench.folder, args.folder)))
  local text = pipe:read("a")
  assert(pipe:close(), "ratios.lua failed")
  local measured, rest = text:match "^([^\n]*)(.*)$"
  return wrap.text(measured .. " " .. scatter(), 100) .. rest
end

-- Returns "Measured: " with the day and machine of a run, from the first line of the run's text file.
local function measured(name)
  local first = io.lines(("%s/%s.txt"):format(args.folder, name))()
  return wrap.text("Measured: " .. first:match "%d%d%d%d%-%d%d%-%d%d, .*$", 100) .. "\n\n"
end

local function ms_text(ms) return ms and ((ms >= 100 and "%.0f" or "%.3g"):format(ms)) or "-" end

local optimizers = { sgd = "SGD", momentum = "SGD, momentum", adagrad = "Adagrad", adam = "Adam", adamw = "AdamW",
  rmsprop = "RMSProp", rmsprop_momentum = "RMSProp, momentum" }

-- Number of cache lines that a step reads and changes for each row of 32 numbers, of the optimizers whose steps change
-- only rows with a gradient; nanoseconds to change a line of random rows in memory (moonrank_bench, limit_row); rows of
-- a step.
local lines_of = { SGD = 2, Adagrad = 4, ["SGD, weight decay"] = 5, ["SGD, momentum"] = 7,
  ["SGD, momentum, weight decay"] = 7, RMSProp = 7, ["RMSProp, momentum"] = 9, Adam = 9, AdamW = 9 }
local ns_of_line, rows_of_step = 8, 2048

-- Returns a Markdown table: milliseconds of an optimizer's step with 5,000 and with 500,000 items, and their ratio.
local function steps_table()
  local rows, of = {}, {}
  for _, row in ipairs(bench.read(io.lines(args.folder .. "/steps.csv"))) do
    local name = row[1]:match "^step of (.*)$"
    if not of[name] then
      local plain = name:match "^(.*)_decay$"
      of[name] = { plain and optimizers[plain] .. ", weight decay" or optimizers[name] }
      rows[#rows + 1] = of[name]
    end
    table.insert(of[name], tonumber(row[4]))
  end
  for _, row in ipairs(rows) do
    local small, large = row[2], row[3]
    row[4] = bench.ratio_text(large / small)
    local lines = lines_of[row[1]]
    row[5], row[6] = lines or "", (large - small) * 1e6 / rows_of_step
    row[7] = lines and bench.ratio_text(1 + lines * ns_of_line * rows_of_step / (small * 1e6)) or ""
  end
  local columns = { "optimizer", "ms, 5,000 items", "ms, 500,000 items", "ratio", "lines of a row", "ns a row more",
    "ratio by lines" }
  local formats = { [columns[2]] = "%.2f", [columns[3]] = "%.2f", ["ns a row more"] = "%.0f" }
  local made = mr.table{ columns = columns, rows = rows, formats = formats }
  return measured "steps" .. made:to_markdown()
end

-- Returns a Markdown list of the programs whose ratio misses its goal. A share of the time (of the objective, whose
-- note has the goal) must be small, all other ratios large.
local function missed_goals(rows)
  local found = {}
  for _, row in ipairs(rows) do
    local ratio, goal, most = tonumber(row[7]), row[11], row[8]:match "^at most (%S+)"
    local is_low, is_high = ratio and goal ~= "" and ratio < tonumber(goal), ratio and most and ratio > tonumber(most)
    if is_low or is_high then
      found[#found + 1] = ("%s for %s (%s; goal %s)"):format(row[2], row[1], bench.ratio_text(ratio),
        most and "at most " .. most or goal)
    end
  end
  for i, each in ipairs(found) do found[i] = "- " .. wrap.text(each, 98):gsub("\n", "\n  ") end
  return "Goals that are missed:\n\n" .. table.concat(found, "\n") .. "\n\n"
end

-- Returns a Markdown table: milliseconds and peak memory of each job, in Moonrank and in the programs it is compared
-- with.
local function native_table()
  local rows, last = {}, nil
  local measured_rows = bench.read(io.lines(args.folder .. "/native.csv"))
  for _, row in ipairs(measured_rows) do
    local ratio = tonumber(row[7])
    rows[#rows + 1] = { row[1] ~= last and row[1] or "", row[2], ms_text(tonumber(row[4])),
      ratio and bench.ratio_text(ratio) or "-", row[11] or "", tonumber(row[10]) or "-",
      row[8]:find "^failed: ModuleNotFound" and "could not be installed" or row[8] }
    last = row[1]
  end
  local columns = { "job", "program", "ms", "times ours", "goal", "peak MiB", "note" }
  return measured "native" .. missed_goals(measured_rows)
    .. mr.table{ columns = columns, rows = rows, formats = { ["peak MiB"] = "%.0f" } }:to_markdown()
end

-- Returns a Markdown table: milliseconds with one thread, with two one-thread copies at the same time, and with two
-- threads, and the speedup of two threads over both.
local function threads_table()
  local rows = {}
  for i, row in ipairs(bench.read(io.lines(args.folder .. "/threads.csv"))) do
    rows[i] = { row[1], ms_text(tonumber(row[2])), ms_text(tonumber(row[3])), ms_text(tonumber(row[4])),
      tonumber(row[5]), ("%.2f"):format(tonumber(row[6])) }
    if tonumber(row[6]) < 1 then rows[i][6] = bench.ratio_text(tonumber(row[6])) end
  end
  local columns = { "work", "one thread, ms", "each copy, ms", "two threads, ms", "of copies", "of one thread" }
  local formats = { ["of copies"] = "%.2f" }
  return measured "threads" .. mr.table{ columns = columns, rows = rows, formats = formats }:to_markdown()
end

-- Returns a Markdown table: the total milliseconds of each work before and after, and the operation whose time changed
-- most.
local function profiles_table()
  local rows, of, most = {}, {}, {}
  for _, row in ipairs(bench.read(io.lines(args.folder .. "/profiles.csv"))) do
    local before, after = tonumber(row[3]) or 0, tonumber(row[4]) or 0
    if not of[row[1]] then
      of[row[1]] = { row[1] }
      rows[#rows + 1] = of[row[1]]
    end
    local found = of[row[1]]
    if row[2] == "total" then
      found[2], found[3] = ms_text(before), ms_text(after)
    elseif math.abs(before - after) > (most[found] or 0) then
      most[found] = math.abs(before - after)
      found[4], found[5], found[6] = row[2], ms_text(before), ms_text(after)
    end
  end
  local columns = { "work", "ms before", "ms after", "most of the change", "its ms before", "its ms after" }
  return measured "profiles" .. mr.table{ columns = columns, rows = rows }:to_markdown()
end

local own_forms = { moonrank = "the built-in model", mf_by_factor_scores = "factor_scores of the lists",
  mf_by_row_dot = "row_dot of gathered rows", mf_by_product = "sum of a product of gathered rows" }

-- Returns a Markdown table: milliseconds of an epoch, or of a validation, with models that a script defines.
local function own_models_table()
  local rows, last = {}, nil
  for i, row in ipairs(bench.read(io.lines(args.folder .. "/own_models.csv"))) do
    local form = row[8] ~= "" and row[8] or own_forms[row[2]] or row[2]
    rows[i] = { row[1] ~= last and row[1] or "", form, ms_text(tonumber(row[4])), bench.ratio_text(tonumber(row[7])) }
    last = row[1]
  end
  local columns = { "work", "scores by", "ms", "times the first" }
  return measured "own_models" .. mr.table{ columns = columns, rows = rows }:to_markdown()
end

local sets = { { "mq2008", "MQ2008" }, { "movielens", "MovieLens" } }
local losses = { ndcg = "smooth nDCG", lambdarank = "LambdaRank" }
local forms = { padded = "PyTorch, padded", compiled = "PyTorch, padded compiled" }

-- Returns a Markdown table of training loops in PyTorch: CPU time, memory, and the difference of the learning curves.
-- The time of a loss is the loop's time minus the time of a loop without a loss (mean score), or a dash if that is not
-- positive.
local function loop_table()
  local rows, at = {}, {}
  for _, set in ipairs(sets) do
    for _, row in ipairs(bench.read(io.lines(("%s/training_loop_%s.csv"):format(args.folder, set[1])))) do
      at[set[1] .. row[2] .. row[3]] = tonumber(row[5])
      rows[#rows + 1] = row
      row.set = set
    end
  end
  local shown = {}
  for _, row in ipairs(rows) do
    local key = row.set[1] .. row[2]
    if row[3] ~= "no loss" then
      local function of_loss(form)
        local ms = at[key .. form] - at[key .. "no loss"]
        return ms > 0 and ms or nil
      end
      local own, this = of_loss "moonrank", of_loss(row[3])
      shown[#shown + 1] = { row.set[2], losses[row[2]], forms[row[3]] or row[3], tonumber(row[5]),
        this and ("%.1f"):format(this) or "-", bench.ratio_text(at[key .. row[3]] / at[key .. "moonrank"]),
        own and this and bench.ratio_text(this / own) or "-", tonumber(row[9]), tonumber(row[11]), row[12] }
    end
  end
  local columns = { "data", "loss", "form", "ms", "ms of the loss", "times ours", "times ours, loss", "first epoch, ms",
    "added MiB", "curve differs by" }
  local formats = { ms = "%.0f", ["first epoch, ms"] = "%.0f", ["added MiB"] = "%.0f" }
  return measured "training_loop_mq2008"
    .. mr.table{ columns = columns, rows = shown, formats = formats }:to_markdown()
end

-- Returns a Markdown table of trees: means over folds, and differences over all test queries with their p-values.
local function trees_table()
  local rows, of = {}, {}
  for _, row in ipairs(bench.read(io.lines(args.folder .. "/trees.csv"))) do
    local key = row[1] .. row[2]
    if not of[key] then
      of[key] = { row[1], row[2], {}, {}, {} }
      rows[#rows + 1] = of[key]
    end
    for i, column in ipairs{ 9, 10, 11 } do table.insert(of[key][2 + i], tonumber(row[column])) end
  end
  local file <close> = assert(io.open(args.folder .. "/trees.txt"))
  local library
  for line in file:lines() do
    library = line:match "^(%w+):$" or library
    local difference, p = line:match "difference ([^,]+), p ([^,]+)"
    local row = p and of[library .. "moonrank"]
    if row then row[6], row[7] = ("%+.4f"):format(tonumber(difference)), ("%.2g"):format(tonumber(p)) end
  end
  for _, row in ipairs(rows) do
    row[3], row[4] = mr.tensor(row[3]):mean():item(), mr.tensor(row[4]):mean():item()
    row[5] = bench.spread_of(row[5]).median
  end
  local columns = { "library", "objective", "validation", "nDCG@10", "s per training", "difference from own", "p" }
  local formats = { validation = "%.4f", ["nDCG@10"] = "%.4f", ["s per training"] = "%.2f" }
  return measured "trees" .. mr.table{ columns = columns, rows = rows, formats = formats }:to_markdown()
end

local file <close> = assert(io.open(args.page))
local page = file:read("a")
local texts = { cpu = cpu_table(), gpu = gpu_table(), loop = loop_table(), native = native_table(),
  own_models = own_models_table(), threads = threads_table(), profiles = profiles_table(), steps = steps_table(),
  trees = trees_table() }
for name, text in pairs(texts) do
  local first, last = ("<!-- begin %s -->\n"):format(name), ("<!-- end %s -->"):format(name)
  local _, from = page:find(first, 1, true)
  local to = page:find(last, 1, true)
  if not (from and to) then error(("%s has no lines '%s' and '%s'"):format(args.page, first, last), 0) end
  page = page:sub(1, from) .. text:gsub("\n*$", "\n") .. page:sub(to)
end
core.write_file(args.page, page)
