-- Times matrix factorisation that a script defines with mr.models.define in three ways, beside the built-in
-- mr.models.mf: an epoch with lists of different lengths, sampled pairs, squared errors, and batches of interactions.
-- The models are trained in turn. Then times the validation of a two-tower model by all items of each user, with and
-- without a function `vectors` that returns the vectors of users and items.
-- Usage: moonrank tests/bench/own_models.lua [--jobs lists,pairs] [--forms rows] [--csv FILE]; with MOONRANK_CLOCK=cpu
-- the CPU time
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local jobs = { "lists", "pairs", "squares", "interactions", "validation" }
local args = bench.args{
  jobs = { default = jobs, choices = jobs, help = "what is measured" },
  forms = { default = { "factor_scores", "row_dot", "product" }, choices = { "factor_scores", "row_dot", "product" },
    help = "how the script's model computes the scores" },
  users = { default = 660, help = "users of the made-up ratings" },
  items = { default = 8552, help = "items of the made-up ratings" },
  factors = { default = 32, help = "entries of a user's or an item's vector" },
  threads = { default = { 1 }, help = "numbers of threads" },
  epochs = { default = 3, help = "measured epochs of a turn, after one to warm up" },
  turns = { default = 5, help = "turns of each program; the median of all measured epochs counts" },
}

-- Three ways in which a script may compute scores as products of user and item vectors.
local scores_of = {
  factor_scores = function(self, batch)
    return batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
  end,
  row_dot = function(self, batch) return self.users:rows(batch.row_users):row_dot(self.items:rows(batch.items)) end,
  product = function(self, batch)
    return (self.users:rows(batch.row_users) * self.items:rows(batch.items)):sum(2)
  end,
}

for form, forward in pairs(scores_of) do
  mr.models.define("mf_by_" .. form, {
    required = { users = "integer", items = "integer" }, options = { factors = 32 },
    parameters = function(o)
      local function matrix(name, rows)
        return mr.uniform({ rows, o.factors }, { low = -0.01, high = 0.01, stream = "mf " .. name, dtype = o.dtype })
      end
      return { users = matrix("users", o.users), items = matrix("items", o.items) }, { "users", "items" }
    end,
    forward = forward,
  })
end

local ratings = mr.data.synthetic{ kind = "ratings", users = args.users, items = args.items, mean_activity = 130,
  seed = 1 }
local fold = ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]

-- The options of mr.fit for each job.
local trainings = {
  lists = { workload = "smooth nDCG, batches of 32 lists", train = fold.train, loss = mr.losses.ndcg{}, batch = 32 },
  pairs = { workload = "BPR, batches of 32 lists", train = fold.train, loss = mr.losses.bpr{}, batch = 32 },
  squares = { workload = "squared error, batches of 8 lists", loss = mr.losses.mse{}, reduction = "rows", batch = 8,
    train = ratings:folds{ k = 5, by = "user", seed = 1, grades = true }[1].train },
  interactions = { workload = "BPR, batches of 256 interactions", train = fold.train, loss = mr.losses.bpr{},
    unit = "interaction", batch = 256 },
}

local function epochs_of(name, job)
  local options = { model = mr.models[name]{ users = ratings.users, items = ratings.items, factors = args.factors },
    optimizer = mr.optim.adam{ lr = 0.01 }, epochs = 1 + args.epochs }
  for option, value in pairs(job) do options[option] = value end
  options.workload = nil
  return bench.epoch_times(options, 1)
end

local rows, add = bench.collect()

local function train(job, threads)
  local names, times = { "mf" }, {}
  for i, form in ipairs(args.forms) do names[i + 1] = "mf_by_" .. form end
  for _, name in ipairs(names) do times[name] = {} end
  for _ = 1, args.turns do
    for _, name in ipairs(names) do
      for _, seconds in ipairs(epochs_of(name, job)) do table.insert(times[name], seconds) end
    end
  end
  for _, name in ipairs(names) do add(job.workload, name == "mf" and "moonrank" or name, threads, times[name]) end
end

local function tower(x, by) return x:matmul(by):tanh() end

-- Three forms of a two-tower model, in which users and items each pass through one layer.
local two_towers = {
  { name = "with vectors", vectors = function(self)
    return tower(self.user, self.left), tower(self.item, self.right)
  end },
  { name = "towers of all items", forward = function(self, batch)
    return batch.lists:factor_scores(tower(self.user, self.left), tower(self.item, self.right), batch.users,
      batch.items)
  end },
  { name = "towers of each row", forward = function(self, batch)
    local users, items = self.user:rows(batch.row_users), self.item:rows(batch.items)
    return tower(users, self.left):row_dot(tower(items, self.right))
  end },
}

for i, form in ipairs(two_towers) do
  mr.models.define("two_towers_" .. i, {
    required = { users = "integer", items = "integer" }, options = { width = 32 }, forward = form.forward,
    vectors = form.vectors,
    parameters = function(o)
      local function normal(count, sd) return mr.normal({ count, o.width }, { sd = sd, dtype = o.dtype }) end
      return { user = normal(o.users, 0.1), item = normal(o.items, 0.1), left = normal(o.width, 0.3),
        right = normal(o.width, 0.3) }
    end,
  })
end

-- Validates the forms of the two-tower model in turns.
local function validate(threads)
  local candidates = ratings:binarize(4):folds{ k = 5, by = "share", seed = 1 }[1]:candidates{}
  local metrics, times, made = require("moonrank.evaluate").metrics_of({ "ndcg@10" }, {}, "validation"), {}, {}
  for i in ipairs(two_towers) do
    made[i] = mr.models["two_towers_" .. i]{ users = ratings.users, items = ratings.items, width = args.factors }
    times[i] = {}
  end
  for turn = 0, args.turns do
    for i, model in ipairs(made) do
      local start = bench.clock()
      candidates:measure(model, metrics)
      if turn > 0 then table.insert(times[i], bench.clock() - start) end
    end
  end
  local workload = ("two towers, nDCG@10 of %d items for %d users"):format(ratings.items, #candidates:tables().users)
  for i, form in ipairs(two_towers) do
    add(workload, i == 1 and "moonrank" or form.name, threads, times[i], i == 1 and form.name or nil)
  end
end

for _, threads in ipairs(args.threads) do
  core.threads(threads)
  for _, name in ipairs(args.jobs) do
    if name == "validation" then validate(threads) else train(trainings[name], threads) end
  end
end
bench.finish(("One epoch, median of %d; one validation, median of %d."):format(args.turns * args.epochs, args.turns),
  rows, args.csv)
