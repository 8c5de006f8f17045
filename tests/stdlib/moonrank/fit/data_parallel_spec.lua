-- Tests shares of batches, and that several processes train the same model as one process, up to rounding.
local mr = require "moonrank"
local core = require "moonrank.core"
local dataset = require "moonrank.data.dataset"
local random = require "moonrank.tensor.random"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- Returns a data set of lists with these sizes. A row's item is the row's number.
local function numbered(sizes)
  local lists, rows = {}, 0
  for i, size in ipairs(sizes) do
    lists[i] = {}
    for j = 1, size do lists[i][j] = j % 2 end
    rows = rows + size
  end
  return dataset.new{ lists = mr.lists(lists), items = mr.arange(1, rows, { dtype = "int64" }),
    users = mr.arange(1, #sizes, { dtype = "int64" }) }
end

it("dataset:batches with shares yields each list of a batch once, in order", function()
  for _, sizes in ipairs{ { 1 }, { 5, 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 90 }, { 3, 3, 3, 3, 3, 3, 3 },
    { 31, 32, 33, 127, 128, 129, 1000 } } do
    local data = numbered(sizes)
    for _, of in ipairs{ 1, 2, 3, 8 } do
      for _, shuffle in ipairs{ false, true } do
        local whole, shares = {}, {}
        for batch in data:batches{ size = 4, shuffle = shuffle } do whole[#whole + 1] = batch.items:totable() end
        for part = 1, of do
          local n = 0
          for batch in data:batches{ size = 4, shuffle = shuffle, share = { part, of } } do
            n = n + 1
            shares[n] = shares[n] or {}
            equal(batch.lists.count, batch.size)
            equal(#batch.users, batch.size)
            for _, item in ipairs(batch.items:totable()) do table.insert(shares[n], item) end
          end
        end
        equal(shares, whole)
      end
    end
  end
end)

it("dataset:batches balances the rows of shares", function()
  local sizes = {}
  for i = 1, 200 do sizes[i] = 1 + (i * i) % 50 end
  local data = numbered(sizes)
  for part = 1, 4 do
    for batch in data:batches{ size = 200, share = { part, 4 } } do
      check(math.abs(batch.lists.rows - data.lists.rows / 4) <= 50, batch.lists.rows .. " rows")
    end
  end
end)

it("sampling losses draw the same rows and rankings in shares of a batch as in the whole batch", function()
  local queries = mr.data.synthetic{ kind = "queries", queries = 30, seed = 2 }
  local data = dataset.new{ lists = queries.lists, features = queries.features:double() }
  local weights = mr.normal({ data.features:size(2) }, { seed = 3, dtype = "float64" })
  local function values(loss, share)
    local found, step = {}, 0
    for batch in data:batches{ size = 8, shuffle = true, share = share } do
      step = step + 1
      local _ <close> = random.of_step(1, step, batch.rows_before)
      found[step] = {}
      if batch.size > 0 then
        local scores = batch.features:matmul(weights:reshape(weights:numel(), 1)):reshape(batch.lists.rows)
        found[step] = loss(scores, batch.lists):totable()
      end
    end
    return found
  end
  local more = { pl_rank = { bound = "distribution", samples = 7 }, policy_gradient = { metric = "ap", samples = 7 } }
  for _, name in ipairs{ "bpr", "warp", "lambdafm", "pl_rank", "policy_gradient" } do
    local loss = mr.losses[name](more[name] or { draws = 2 })
    local whole = values(loss)
    for _, of in ipairs{ 2, 3, 8 } do
      local joined = {}
      for part = 1, of do
        for step, found in ipairs(values(loss, { part, of })) do
          joined[step] = joined[step] or {}
          table.move(found, 1, #found, #joined[step] + 1, joined[step])
        end
      end
      equal(#joined, #whole, name)
      -- a GPU adds the products of a smaller batch in another order, so results differ by rounding
      for step, found in ipairs(whole) do near(joined[step], found, 1e-12, name) end
    end
  end
end)

it("mr.fit with parallel = true and one process changes nothing, and cluster_join raises an error", function()
  local data = mr.data.synthetic{ kind = "queries", queries = 20, seed = 1 }
  local function trained(parallel)
    local model = mr.models.linear{ inputs = data.features:size(2), seed = 1 }
    mr.fit{ model = model, loss = mr.losses.ap{}, train = data, epochs = 2, parallel = parallel, progress = false }
    return model:parameters()[1]:totable()
  end
  equal(trained(true), trained(false))
  local with_mpi = core.mpi_library() ~= nil
  raises(function() core.cluster_join "training" end, with_mpi and "mpirun" or "MPI")
  raises(function() core.sum_gradients({ mr.zeros(2):requires_grad() }, 0, 0, false, true) end,
    with_mpi and "sum_gradients" or "MPI")
end)

-- Trains and saves; prints the last loss.
local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ kind = "mf", dtype = "float64", batch = 8, rows = 0, reduction = "mean", epochs = 4,
  out = "model", adam = false, slow = false, checkpoint = "", apart = false, stop = 0, put_off = false, loss = "ndcg" }
-- defers every update of rows without a gradient, or none
core.put_off_from(args.put_off and 0 or 1 << 62)
local data, model
if args.kind == "mf" then
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 200, seed = 1 }:binarize(4)
  data = ratings:folds{ k = 3, by = "user", seed = 1, nsr = 1 }[1].train
  -- every process starts with a different model; the model of the first process is used
  local seed = 1 + core.launched()
  model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, init = 0.1, seed = seed,
    dtype = args.dtype }
else
  local queries = mr.data.synthetic{ kind = "queries", queries = 70, seed = 1 }
  local features = args.dtype == "float64" and queries.features:double() or queries.features
  data = require("moonrank.data.dataset").new{ lists = queries.lists, features = features }
  model = mr.models.mlp{ inputs = features:size(2), hidden = {16}, seed = 1, dtype = args.dtype }
end
-- if a derivative is 0, like that of the last layer's bias, Adam would turn rounding into steps
local optimizer = args.adam and mr.optim.adam{ lr = 0.01 } or mr.optim.sgd{ lr = 0.05, momentum = 0.5 }
local run = mr.fit{ model = model, loss = mr.losses[args.loss]{ bound = "minmax" }, train = data, valid = data,
  batch = args.rows == 0 and args.batch or nil, batch_rows = args.rows > 0 and args.rows or nil,
  epochs = args.epochs, metrics = {"ndcg"}, seed = 1,
  reduction = args.reduction, optimizer = optimizer, parallel = true, progress = false,
  checkpoint = args.checkpoint ~= "" and args.checkpoint .. (args.apart and core.launched() or "") or nil,
  each_epoch = function(epoch)
    if args.slow then core.wait_for({}, 0.1) end
    if args.stop == epoch and epoch > 0 then error "stopped" end
  end }
model:save(args.out .. "_" .. core.launched())
print(("%.12g %d"):format(run.history[#run.history].loss, #run.history))
]]

local function parameters_of(folder, name) return mr.models.load(folder .. "/" .. name):parameters() end

local function worst_difference(a, b)
  local worst = 0
  for i in ipairs(a) do worst = math.max(worst, (a[i]:detach() - b[i]:detach()):abs():max():item()) end
  return worst
end

local function train_as(folder, count, arguments)
  local before = count > 1 and sweeps.mpirun(count) or ""
  local status, out, err = sweeps.run(folder, "train.lua", ("%s --out m%d"):format(arguments, count), before)
  equal(status, 0, err)
  return out
end

local mpirun, why = sweeps.mpirun(2)
if sweeps.is_skipped("parallel training", why) then return end

local function new_folder()
  local folder = sweeps.new_folder()
  sweeps.write(folder .. "/train.lua", script)
  return folder
end

-- some of these cases have batches with fewer lists than processes
for _, arguments in ipairs{ "--kind mf --adam", "--kind mlp --adam", "--kind mf --adam --dtype float32",
  "--kind mlp --dtype float32", "--kind mf --batch 2 --epochs 2", "--kind mlp --reduction sum", "--kind mf --rows 100",
  "--kind mf --loss bpr --epochs 2", "--kind mlp --loss warp --epochs 2", "--kind mf --loss lambdafm --epochs 2" } do
  it("mr.fit trains the same model with 1, 2 and 3 processes: " .. arguments, function()
    local folder = new_folder()
    local alone = train_as(folder, 1, arguments)
    for count = 2, 3 do
      local out = train_as(folder, count, arguments)
      equal(select(2, out:gsub("\n", "")), 1)
      local single = arguments:find "float32" ~= nil
      check(math.abs(tonumber(out:match "%S+") - tonumber(alone:match "%S+")) < (single and 1e-5 or 1e-10), out)
      local first = parameters_of(folder, ("m%d_0"):format(count))
      for rank = 1, count - 1 do
        equal(worst_difference(parameters_of(folder, ("m%d_%d"):format(count, rank)), first), 0)
      end
      local worst = worst_difference(parameters_of(folder, "m1_0"), first)
      check(worst < (single and 1e-5 or 1e-10), ("%d processes: %g"):format(count, worst))
    end
  end)
end

for _, arguments in ipairs{ "--kind mf --adam", "--kind mf" } do
  it("mr.fit with deferred updates gives the same model with 1, 2 and 3 processes: " .. arguments, function()
    if mr.device() == "cuda" then return test.skip "updates are deferred on the CPU only" end
    local folder = new_folder()
    train_as(folder, 1, arguments)
    local taken = parameters_of(folder, "m1_0")
    train_as(folder, 1, arguments .. " --put_off")
    local alone = parameters_of(folder, "m1_0")
    check(worst_difference(alone, taken) > 0, "no rounding tells one from the other: was anything put off?")
    for count = 2, 3 do
      train_as(folder, count, arguments .. " --put_off")
      local first = parameters_of(folder, ("m%d_0"):format(count))
      for rank = 1, count - 1 do
        equal(worst_difference(parameters_of(folder, ("m%d_%d"):format(count, rank)), first), 0)
      end
      for name, one in pairs{ ["put off"] = alone, ["not put off"] = taken } do
        local worst = worst_difference(one, first)
        check(worst < 1e-10, ("%d processes against one, %s: %g"):format(count, name, worst))
      end
    end
  end)
end

it("a signal to one process of a parallel mr.fit stops all after the same batch", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "train.lua", "--kind mlp --epochs 100000 --slow", mpirun)
  sweeps.wait(2)
  -- signals only one of the processes, as if only one node of a cluster got the signal
  sweeps.signal(sweeps.children(id)[2], "TERM")
  sweeps.finish(folder)
  equal(worst_difference(parameters_of(folder, "model_0"), parameters_of(folder, "model_1")), 0)
end)

it("Ctrl-C in one process ends the others while they wait to join", function()
  local folder = new_folder()
  sweeps.write(folder .. "/train.lua", script .. [[
if core.launched() == 1 then
  os.execute "(sleep 0.2; kill -INT $PPID) &"
  core.wait_for({}, 60)
  while true do end
end
require("moonrank.fit.data_parallel").join(model:parameters())
print "all together"
]])
  local status, out = sweeps.run(folder, "train.lua", "", "timeout 100 " .. mpirun:gsub("^OMPI", "env OMPI"))
  equal(status, 130)
  check(not out:find "all together", out)
end)

it("parallel mr.fit raises an error if the processes find different checkpoints", function()
  local folder = new_folder()
  local words = "--kind mf --checkpoint fit.safetensors --apart"
  check(sweeps.run(folder, "train.lua", words .. " --stop 3", mpirun) ~= 0)
  local status, _, err = sweeps.run(folder, "train.lua", words, mpirun)
  check(status ~= 0)
  check(err:find("fit.safetensors1", 1, true) and err:find("epoch 0", 1, true) and err:find("epoch 2", 1, true), err)
end)

it("parallel mr.fit resumes from a checkpoint to the same bits", function()
  local folder = new_folder()
  train_as(folder, 2, "--kind mf --adam")
  local whole = parameters_of(folder, "m2_0")
  local status = sweeps.run(folder, "train.lua", "--kind mf --adam --checkpoint fit.safetensors --stop 3", mpirun)
  equal(status, 1)
  train_as(folder, 2, "--kind mf --adam --checkpoint fit.safetensors")
  for rank = 0, 1 do equal(worst_difference(parameters_of(folder, "m2_" .. rank), whole), 0) end
end)

it("an error in one process of a parallel mr.fit ends all processes", function()
  local folder = new_folder()
  local failing = script:gsub("if args.slow", "if core.launched() == 1 then error 'no more' end\n  if args.slow")
  sweeps.write(folder .. "/train.lua", failing)
  local status, _, err = sweeps.run(folder, "train.lua", "", mpirun)
  equal(status, 1)
  check(err:find("train.lua:%d+: no more"), err)
end)
