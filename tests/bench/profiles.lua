-- Profiles of works before and after a change: milliseconds of each operation in two builds of Moonrank, side by side.
-- The works are those of docs/speed.md's sections on two threads, on the size of the catalogue, and on models of
-- scripts. Each program runs a work once to warm up, then three times; the profile with the least total counts. Times
-- are wall times. Operations that take less than 4 % of both totals are added up.
-- Usage: moonrank tests/bench/profiles.lua --before PROGRAM [--works NAME,NAME] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local works, names = {}, {}

-- Adds a work. `make()` returns a function that does the work, and of how many units it consists (epochs, steps or
-- calls). Times are those of one unit.
local function work(name, title, threads, make)
  works[name], names[#names + 1] = { title = title, threads = threads, make = make }, name
end

local trainings = dofile(bench.folder .. "trainings.lua")
for _, training in ipairs(trainings.list) do
  local name, title, epochs, made = table.unpack(training)
  work(name, title .. ", an epoch, two threads", 2, function() return trainings.runner(epochs, made), epochs end)
end

-- Adds a job of jobs.lua, with options beside those of its usual size. It consists of `units` epochs or calls.
local function job(name, title, options, units)
  for _, each in ipairs(dofile(bench.folder .. "jobs.lua")) do
    if each.name == name then
      work(name, title .. ", two threads", 2, function()
        local o = { path = arg[2] }
        for _, more in ipairs{ each.usual, options } do
          for key, value in pairs(more) do o[key] = value end
        end
        if each.input then each.input(o) end
        return each.work(o), units
      end)
    end
  end
end
job("squared_error", "squared error, an epoch of 996600 interactions, 50 factors", { epochs = 10 }, 10)
job("bpr", "BPR, an epoch of 996600 interactions, 32 factors", { epochs = 2 }, 2)
job("run_files", "nDCG, AP, RR from run files, 2000 queries of 100", {}, 1)

-- Adds steps of matrix factorisation with 500,000 items. A step has 2,048 of them, and 400 steps come before.
local function steps(name, title, kind, options)
  work(name, title .. ", a step with 500000 items", 1, function()
    local lists_of_step, rows, items = 32, 64, 500000
    local lists, loss = bench.alternating(lists_of_step, rows), mr.losses.ap()
    local model = mr.models.mf{ users = 1000, items = items, factors = 32, seed = 1 }
    local optimizer = mr.optim[kind](options):bind(model:parameters())
    local order, at = core.permutation(items, 1, "items", 1), 1
    local users = core.arange(1, lists_of_step, 1, "int64", "cpu")
    local function run(count)
      for _ = 1, count do
        if at + lists_of_step * rows > items then at = 1 end
        local batch = { lists = lists, users = users, items = order:narrow(1, at, lists_of_step * rows) }
        at = at + lists_of_step * rows
        optimizer:zero_grad()
        loss(model(batch), lists):mean():backward()
        optimizer:step()
      end
    end
    run(400)
    return function() run(100) end, 100
  end)
end
steps("adam", "Adam", "adam", { lr = 0.001 })
steps("adamw", "AdamW", "adamw", { lr = 0.001, weight_decay = 0.01 })
steps("rmsprop", "RMSProp", "rmsprop", { lr = 0.001 })
steps("sgd_decay", "SGD with weight decay", "sgd", { lr = 0.01, weight_decay = 0.01 })

local function made_up() return mr.data.synthetic{ kind = "ratings", users = 660, items = 8552, mean_activity = 130,
  seed = 1 }:binarize(4) end
work("rows", "a model of a script, scores by row_dot of gathered rows, an epoch", 1, function()
  local ratings = made_up()
  mr.models.define("profiled_rows", {
    required = { users = "integer", items = "integer" },
    parameters = function(o)
      return { users = mr.uniform({ o.users, 32 }, { low = -0.01, high = 0.01, stream = "users" }),
        items = mr.uniform({ o.items, 32 }, { low = -0.01, high = 0.01, stream = "items" }) }, { "users", "items" }
    end,
    forward = function(self, batch) return self.users:rows(batch.row_users):row_dot(self.items:rows(batch.items)) end,
  })
  return trainings.runner(5, function()
    return { train = ratings:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1].train, loss = mr.losses.ndcg(),
      model = function() return mr.models.profiled_rows{ users = ratings.users, items = ratings.items } end }
  end), 5
end)

local function tower(x, by) return x:matmul(by):tanh() end
work("towers", "two towers, a validation of 660 users by 8552 items", 1, function()
  local definition = { required = { users = "integer", items = "integer" },
    parameters = function(o)
      local function normal(count, sd) return mr.normal({ count, 32 }, { sd = sd }) end
      return { user = normal(o.users, 0.1), item = normal(o.items, 0.1), left = normal(32, 0.3),
        right = normal(32, 0.3) }
    end,
    forward = function(self, batch)
      local users, items = self.user:rows(batch.row_users), self.item:rows(batch.items)
      return tower(users, self.left):row_dot(tower(items, self.right))
    end,
    vectors = function(self) return tower(self.user, self.left), tower(self.item, self.right) end }
  if not pcall(mr.models.define, "profiled_towers", definition) then
    definition.vectors = nil  -- the older program has no vectors of models
    mr.models.define("profiled_towers", definition)
  end
  local ratings = made_up()
  local candidates = ratings:folds{ k = 5, by = "share", seed = 1 }[1]:candidates{}
  local metrics = require("moonrank.evaluate").metrics_of({ "ndcg@10" }, {}, "validation")
  local model = mr.models.profiled_towers{ users = ratings.users, items = ratings.items }
  return function() candidates:measure(model, metrics) end, 1
end)

-- Called as profiles.lua NAME PATH, this process only profiles one work, and prints its operations. The work may write
-- files whose paths begin with PATH. Any version of Moonrank runs this.
if works[arg[1]] then
  core.threads(works[arg[1]].threads)
  local run, units = works[arg[1]].make()
  run()
  local best
  for _ = 1, 3 do
    local profile = mr.profile(run)
    if not best or profile.total_ms < best.total_ms then best = profile end
  end
  for _, row in ipairs(best.rows) do print(("%s,%.6f"):format(row.operation, row.ms / units)) end
  print(("outside of operations,%.6f"):format(best.outside_ms / units))
  print(("total,%.6f"):format(best.total_ms / units))
  return
end

bench.need_wall_time()
local args = bench.args{
  before = { type = "string", required = true, help = "the program before the change; this program is the one after" },
  works = { default = names, choices = names, help = "which works are profiled" },
}

local function quoted(path) return "'" .. path:gsub("'", "'\\''") .. "'" end
local temporary <close> = bench.temporary()
core.make_folder(temporary.path .. "/x")

local about = assert(io.popen(quoted(args.before) .. " --version 2>/dev/null"))
local numerics = about:read("a"):match "numerics: (%S+)"
about:close()
if not numerics then
  error(core.exit(2, ("--before: '%s' is not a program of Moonrank that runs. Pass the path of an older program")
    :format(args.before)), 0)
end

-- Returns milliseconds by operation, and the operations in the order of their times.
local function profile_of(program, name)
  local pipe = assert(io.popen(("%s '%sprofiles.lua' %s '%s/input'"):format(quoted(program), bench.folder, name,
    temporary.path)))
  local ms, order = {}, {}
  for line in pipe:lines() do
    local operation, time = line:match "^([^,]+),(%d+%.%d+)$"
    if operation then ms[operation], order[#order + 1] = tonumber(time), operation end
  end
  core.check_interrupt()
  if not pipe:close() or not ms.total then error(("profiles.lua: %s cannot run %s"):format(program, name), 0) end
  return ms, order
end

local rows = {}
for _, name in ipairs(args.works) do
  io.stderr:write(name, "\n")
  local before = profile_of(args.before, name)
  local after, order = profile_of(bench.program, name)
  local title, rest_before, rest_after = works[name].title, 0, 0
  for operation in pairs(before) do
    if not after[operation] then order[#order + 1] = operation end
  end
  local shown = {}
  for _, operation in ipairs(order) do
    local was, is = before[operation] or 0, after[operation] or 0
    local is_large = was >= 0.04 * before.total or is >= 0.04 * after.total
    if is_large or operation == "outside of operations" then
      shown[#shown + 1] = { title, operation, before[operation], after[operation] }
    else
      rest_before, rest_after = rest_before + was, rest_after + is
    end
  end
  shown[#shown + 1] = { title, "other operations", rest_before, rest_after }
  table.sort(shown, function(a, b)
    local function key(row) return row[2] == "total" and -1 or math.max(row[3] or 0, row[4] or 0) end
    return key(a) > key(b)
  end)
  for _, row in ipairs(shown) do rows[#rows + 1] = row end
end
local versions = ("before: numerics %s"):format(numerics)
bench.finish("Profiles before and after, milliseconds of an epoch, step or call.", rows, args.csv,
  { "work", "operation", "ms before", "ms after" }, { ["ms before"] = "%.4g", ["ms after"] = "%.4g" }, versions)
