-- Measures the CPU time of a training step of matrix factorisation by the number of items in the catalogue. Every step
-- has 32 lists of 64 rows, whose 2,048 items are distinct and drawn from the whole catalogue, so a step touches equally
-- many embedding rows in small and large catalogues. The model has 32 factors, the loss is smooth AP, and one thread is
-- used. Each optimizer is measured with and without weight decay. Catalogues are measured in turn, in blocks of steps,
-- after a warm-up in which most rows of the largest catalogue get a gradient.
-- Usage: moonrank tests/bench/steps.lua [--items 5000,500000] [--optimizers adam,rmsprop] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local cases = {
  { "sgd", "sgd", { lr = 0.01 } },
  { "momentum", "sgd", { lr = 0.01, momentum = 0.9 } },
  { "adagrad", "adagrad", { lr = 0.01 } },
  { "adam", "adam", { lr = 0.001 } },
  { "adamw", "adamw", { lr = 0.001, weight_decay = 0.01 } },
  { "rmsprop", "rmsprop", { lr = 0.001 } },
  { "rmsprop_momentum", "rmsprop", { lr = 0.001, momentum = 0.9 } },
  { "sgd_decay", "sgd", { lr = 0.01, weight_decay = 0.01 } },
  { "momentum_decay", "sgd", { lr = 0.01, momentum = 0.9, weight_decay = 0.01 } },
  { "adagrad_decay", "adagrad", { lr = 0.01, weight_decay = 0.01 } },
  { "adam_decay", "adam", { lr = 0.001, weight_decay = 0.01 } },
  { "rmsprop_decay", "rmsprop", { lr = 0.001, weight_decay = 0.01 } },
}
local names = {}
for i, case in ipairs(cases) do names[i] = case[1] end

local args = bench.args({
  items = { default = { 5000, 500000 }, help = "sizes of the catalogue, at least the rows of a step" },
  optimizers = { default = names, choices = names, help = "which optimizers" },
  warm = { default = 400, help = "steps before" },
  steps = { default = 40, help = "steps of a block" },
  blocks = { default = 7, help = "blocks of each catalogue; the median counts" },
}, { warm = true })

local users, size, rows_of_list, factors = 1000, 32, 64, 32
local rows_of_step = size * rows_of_list
for _, items in ipairs(args.items) do
  if items < rows_of_step then
    error(core.exit(2, ("--items: got %d, expected at least %d, the items of a step"):format(items, rows_of_step)), 0)
  end
end
core.threads(1)

local lists, loss = bench.alternating(size, rows_of_list), mr.losses.ap()

-- Returns a function that gives the items of the next step: the next slice of a random permutation of all items. When
-- the permutation is used up, a new one is drawn.
local function draws(items)
  local order, at = {}, items + 1
  for i = 1, items do order[i] = i end
  return function()
    if at + rows_of_step - 1 > items then
      for i = items, 2, -1 do
        local j = math.random(i)
        order[i], order[j] = order[j], order[i]
      end
      at = 1
    end
    local chosen = table.move(order, at, at + rows_of_step - 1, 1, {})
    at = at + rows_of_step
    return mr.tensor(chosen, { dtype = "int64" })
  end
end

-- Returns a function that does one training step and returns its CPU time.
local function training(items, kind, options)
  local model = mr.models.mf{ users = users, items = items, factors = factors, seed = 1 }
  local optimizer = mr.optim[kind](options):bind(model:parameters())
  local draw = draws(items)
  return function()
    local user_of = {}
    for l = 1, size do user_of[l] = math.random(users) end
    local batch = { lists = lists, users = mr.tensor(user_of, { dtype = "int64" }), items = draw() }
    local began = os.clock()
    optimizer:zero_grad()
    loss(model(batch), lists):mean():backward()
    optimizer:step()
    return os.clock() - began
  end
end

local function measure(name, kind, options, add)
  math.randomseed(1)
  local steps, times = {}, {}
  for i, items in ipairs(args.items) do steps[i], times[i] = training(items, kind, options), {} end
  for _, step in ipairs(steps) do
    for _ = 1, args.warm do step() end
  end
  for block = 1, args.blocks do
    for i, step in ipairs(steps) do
      local total = 0
      for _ = 1, args.steps do total = total + step() end
      times[i][block] = total / args.steps
    end
  end
  for i, items in ipairs(args.items) do add("step of " .. name, ("moonrank, %d items"):format(items), 1, times[i]) end
end

bench.clock = os.clock  -- the clock of `training`, which the table names
local rows, add = bench.collect()
for _, case in ipairs(cases) do
  for _, name in ipairs(args.optimizers) do
    if name == case[1] then
      io.stderr:write(name, " ...\n")
      measure(name, case[2], case[3], add)
      collectgarbage()
    end
  end
end
bench.finish(("Processor time of a step, %d items touched; `times ours`: the larger catalogue over the first."):format(
  rows_of_step), rows, args.csv)
