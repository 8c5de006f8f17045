-- Profiles of works before and after a change: milliseconds of each operation in two builds of Moonrank, side by side.
-- The works are those of docs/speed.md's sections on two threads, on the size of the catalogue, and on models of
-- scripts. Each work runs three times in each program after once to warm up, and the profile with the least total
-- counts. Operations that take less than 4 % of both totals are added up.
-- Usage: moonrank tests/bench/profiles.lua --before PROGRAM [--works NAME,NAME] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"

local works, names = {}, {}

-- Adds a work. `make()` returns a function that does the work, and of how many units it consists: epochs, steps or
-- calls. Times are those of one unit.
local function work(name, title, threads, make)
  works[name], names[#names + 1] = { title = title, threads = threads, make = make }, name
end

local function training(name, title, threads, epochs, made)
  work(name, title, threads, function()
    local options = made()
    local model = options.model
    options.epochs, options.progress = epochs, false
    return function()
      options.model = model()
      mr.fit(options)
    end, epochs
  end)
end

local function movielens(o)
  local ratings = mr.data.movielens():binarize(4):min_relevant(25)
  o.train = ratings:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1].train
  o.model = function() return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, seed = 1 } end
  o.batch, o.optimizer = 32, mr.optim.adam{ lr = 0.01 }
  return o
end

training("movielens", "MovieLens NSR 1, nDCG, an epoch, two threads", 2, 20,
  function() return movielens{ loss = mr.losses.ndcg() } end)
training("lambdarank", "MovieLens NSR 1, LambdaRank, an epoch, two threads", 2, 10,
  function() return movielens{ loss = mr.losses.lambdarank() } end)
training("mq2008", "MQ2008, network 46-46-1, nDCG, an epoch, two threads", 2, 20, function()
  return { train = mr.data.letor_folds("mq2008")[1].train, loss = mr.losses.ndcg(), batch = 32,
    model = function() return mr.models.mlp{ inputs = 46, hidden = { 46 }, seed = 1 } end,
    optimizer = mr.optim.adam{ lr = 0.01 } }
end)
training("bpr", "BPR, an epoch of 996600 interactions, 32 factors, two threads", 2, 2, function()
  local users, items, each = 6040, 3706, 165
  local n, sizes = users * each, {}
  for user = 1, users do sizes[user] = each end
  local train = mr.data.dataset{ users = core.arange(1, users, 1, "int64", "cpu"), name = "train",
    items = core.uniform({ n }, 1, items + 1, 1, "items", "float64", "cpu"):to "int64",
    lists = mr.lists{ relevance = mr.ones(n), sizes = sizes } }
  return { train = train, loss = mr.losses.bpr(), unit = "interaction", batch = 1024, negatives = 1,
    optimizer = mr.optim.sgd{ lr = 0.05 },
    model = function() return mr.models.mf{ users = users, items = items, factors = 32, init = 0.1, seed = 1 } end }
end)

-- Adds steps of matrix factorisation with 500,000 items, of which each step has 2,048, after 400 other steps.
local function steps(name, title, kind, options)
  work(name, title .. ", a step with 500000 items", 1, function()
    local lists_of_step, rows, items = 32, 64, 500000
    local grades = {}
    for l = 1, lists_of_step do
      grades[l] = {}
      for row = 1, rows do grades[l][row] = row % 2 end
    end
    local lists, loss = mr.lists(grades), mr.losses.ap()
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
training("rows", "a model of a script, scores by row_dot of gathered rows, an epoch", 1, 5, function()
  local ratings = made_up()
  mr.models.define("profiled_rows", {
    required = { users = "integer", items = "integer" },
    parameters = function(o)
      return { users = mr.uniform({ o.users, 32 }, { low = -0.01, high = 0.01, stream = "users" }),
        items = mr.uniform({ o.items, 32 }, { low = -0.01, high = 0.01, stream = "items" }) }, { "users", "items" }
    end,
    forward = function(self, batch) return self.users:rows(batch.row_users):row_dot(self.items:rows(batch.items)) end,
  })
  return { train = ratings:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1].train, loss = mr.losses.ndcg(),
    batch = 32, optimizer = mr.optim.adam{ lr = 0.01 },
    model = function() return mr.models.profiled_rows{ users = ratings.users, items = ratings.items } end }
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
      return batch.lists:factor_scores(tower(self.user, self.left), tower(self.item, self.right), batch.users,
        batch.items)
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

-- Called as profiles.lua NAME, this process only profiles one work, and prints its operations. Any version of Moonrank
-- runs this.
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

local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")
local args = bench.args{
  before = { type = "string", required = true, help = "the program before the change; this program is the one after" },
  works = { default = names, choices = names, help = "which works are profiled" },
}

-- Returns milliseconds by operation, and the operations in the order of their times.
local function profile_of(program, name)
  local pipe = assert(io.popen(("'%s' '%sprofiles.lua' %s"):format(program, bench.folder, name)))
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
  local after, order = profile_of(arg[-1], name)
  local title, rest_before, rest_after = works[name].title, 0, 0
  for operation in pairs(before) do
    if not after[operation] then order[#order + 1] = operation end
  end
  local shown = {}
  for _, operation in ipairs(order) do
    local was, is = before[operation] or 0, after[operation] or 0
    if was >= 0.04 * before.total or is >= 0.04 * after.total then
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
local pipe = assert(io.popen(("'%s' --version"):format(args.before)))
local versions = ("before: numerics %s"):format(pipe:read("a"):match "numerics: (%S+)")
pipe:close()
bench.finish("Profiles before and after, milliseconds of an epoch, step or call.", rows, args.csv,
  { "work", "operation", "ms before", "ms after" }, { ["ms before"] = "%.4g", ["ms after"] = "%.4g" }, versions)
