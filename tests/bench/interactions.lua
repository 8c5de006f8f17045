-- Times a training step on interactions: pairs of a user and a relevant item, each with sampled negatives. The model is
-- matrix factorisation with cosines, the loss SL, the optimizer Adam. PyTorch does the same step in the same run
-- (tests/bench/peers/interactions_torch.py explains its forms). Items are random, and the numbers of users and items
-- are those of Amazon Health and Gowalla. Both programs draw negatives anew in each step; Moonrank draws them among the
-- items that the user does not have.
-- Usage: moonrank tests/bench/interactions.lua [--sets health,gowalla] [--forms gathered,product] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match("^(.*/)") or "./"
local bench = dofile(here .. "bench.lua")
local protocol = dofile(here .. "../../scripts/ir_benchmark/protocol.lua")

local args = bench.args({
  sets = { default = { "health", "gowalla" }, choices = { "health", "gowalla" }, help = "sizes of which data set" },
  forms = { default = { "gathered", "product" }, help = "forms of the peer; none: no peer" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  steps = { default = 4, help = "steps of a measurement" },
  epochs = { default = 5, help = "measurements, after one to warm up; the median counts" },
  batch = { default = 1024, help = "interactions of a step" },
  negatives = { default = 1000, help = "sampled negatives of an interaction" },
})

local sizes = { health = { users = 1974, items = 1200, owned = 17 }, gowalla = { users = 29858, items = 40988,
  owned = 24 } }
local tau = 0.2

-- Returns a data set of random interactions, with as many users as are needed for `steps` batches.
local function made_up(size)
  local count = math.min(size.users, args.steps * args.batch // size.owned)
  local grades, users = {}, {}
  for l = 1, count do
    grades[l], users[l] = {}, l
    for i = 1, size.owned do grades[l][i] = 1 end
  end
  local items = core.uniform({ count * size.owned }, 1, size.items + 1, 1, "interactions", "float64", "cpu"):long()
  return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }), items = items }
end

local function ours(size, train)
  return bench.epoch_times({ model = protocol.model(size, "SL", 1), loss = mr.losses.sl{ tau = tau },
    train = train, unit = "interaction", batch = args.batch, negatives = args.negatives,
    optimizer = mr.optim.adam{ lr = 0.1 }, epochs = args.epochs + 1 }, 1)
end

local rows, add = bench.collect()
for _, name in ipairs(args.sets) do
  local size = sizes[name]
  local train = made_up(size)
  local steps = -(-train.lists.rows // args.batch)
  local workload = ("%d steps of %d interactions, %d negatives of %d items"):format(steps, args.batch, args.negatives,
    size.items)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    add(workload, "moonrank", threads, ours(size, train))
    for _, form in ipairs(args.forms) do
      if form ~= "none" then
        add(workload, "PyTorch, " .. form, threads, bench.peer_times("interactions_torch.py", form, threads, steps,
          args.epochs, args.batch, args.negatives, size.users, size.items, protocol.factors, tau))
      end
    end
  end
end
bench.finish(("Steps of interactions, median of %d measurements."):format(args.epochs), rows, args.csv)
