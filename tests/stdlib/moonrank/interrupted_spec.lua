-- Tests Ctrl-C in the middle of work whose results are stored: nothing incomplete is stored, loops end, and the test
-- part is not evaluated. The scripts send the signal of Ctrl-C to themselves.
local test = require "moonrank.test"
local sweeps = require "tests.support.sweeps"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

if not sweeps.moonrank then return test.skip "MOONRANK is not set" end

local begin = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local function press()  -- its process is not captured: what a checkpoint's functions captured is compared
  -- a command of the shell in the foreground would keep the signal from this process
  local id = io.open("/proc/self/stat"):read "n"
  os.execute("(sleep 0.1; kill -INT " .. id .. ") &")
  while true do core.check_interrupt() end
end
local queries = mr.data.synthetic{ kind = "queries", queries = 24, features = 5, seed = 2 }
local function fit(at, options)
  local all = { model = mr.models.linear{ inputs = 5 }, loss = mr.losses.ndcg{}, train = queries, valid = queries,
    test = queries, epochs = 40, metrics = { "ndcg" }, progress = false,
    each_epoch = function(epoch) if epoch == at then press() end end }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all)
end
]]

-- Runs a script that begins with the common first lines. `look` gets a function that returns exit status, output and
-- errors.
local function script(text, look)
  local folder = sweeps.new_folder(begin .. text)
  look(function() return sweeps.run(folder, "sweep.lua") end, folder)
end

describe("Ctrl-C", function()
  it("in the function of mr.checkpoint stores nothing, although mr.fit returns a run", function()
    script([[
local function scores(at)
  return mr.checkpoint("part.safetensors", { seed = 1 }, function()
    local run = fit(at)
    return { epochs = mr.tensor{ #run.history } }
  end)
end
local ok, why = pcall(scores, 3)
print(ok, why, core.file_exists "part.safetensors")
print(scores(0).epochs:item())
]], function(run)
      local _, out, err = run()
      check(out:find "false\tinterrupted\tfalse", out .. err)
      check(not out:find "\n3%.0", "half a training was used: " .. out)
    end)
  end)

  it("during mr.fit ends a loop of trainings, not only the current one", function()
    script([[
for seed = 1, 5 do
  local run = fit(seed == 2 and 3 or nil, { seed = seed })
  print(("seed %d: %d epochs, interrupted %s, test %s"):format(seed, #run.history, run.interrupted, run.test ~= nil))
end
print "after the loop"
]], function(run)
      local status, out = run()
      equal(status, 130)
      equal(out, "seed 1: 40 epochs, interrupted false, test true\nseed 2: 3 epochs, interrupted true, test false\n")
    end)
  end)

  it("during mr.fit ends a loop that catches errors, and skips the test evaluation", function()
    script([[
local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 60, mean_activity = 20, seed = 3 }
local fold = ratings:binarize(4):min_relevant(4):folds{ k = 2, seed = 3 }[1]
for i = 1, 4 do
  print(i, pcall(function()
    local model = mr.models.mf{ users = fold.users, items = fold.items, factors = 2 }
    return fit(i == 2 and 3 or nil, { model = model, train = fold.train, valid = fold.valid,
      test = fold:candidates{ part = "test" } }).test == nil
  end))
end
]], function(run)
      local status, out, err = run()
      equal(status, 130)
      equal(out, "1\ttrue\tfalse\n2\ttrue\ttrue\n3\tfalse\tinterrupted\n4\tfalse\tinterrupted\n", err)
    end)
  end)

  it("during validation skips the test evaluation, and the training resumes from its checkpoint", function()
    script([[
local count = 0
mr.metrics.define("pressing", function(ranks, lists)
  count = count + 1
  if count == 3 and not os.getenv "AGAIN" then press() end
  return ranks:double():mean() + mr.zeros(lists.count, { dtype = "float64" })
end)
local run = fit(nil, { checkpoint = "fit.safetensors", epochs = 5, metrics = { "pressing" }, progress = true })
print(run.interrupted, run.test == nil, run.resumed, count)
]], function(run, folder)
      local _, out, err = run()
      check(out:find "^true\ttrue\t0\t3\n", out .. err)
      local status, again, told = sweeps.run(folder, "sweep.lua", "", "AGAIN=1")
      equal(status, 0, told)
      check(again:find "^false\tfalse\t2\t", again)
      check(told:find "epoch 2 of 5" and told:find("fit.safetensors", 1, true), told)
    end)
  end)

  -- 40 lists in batches of 4 make ten steps per epoch. The script sends itself Ctrl-C when training has computed scores
  -- `at` times.
  local partial = [[
local many = mr.data.synthetic{ kind = "queries", queries = 40, features = 5, seed = 2 }
mr.metrics.define("bad", function(_, lists) return mr.zeros(lists.count, { dtype = "float64" }) / 0 * 0 end)
local made, at = 0, nil
mr.models.define("pressing", { parameters = function() return { w = mr.uniform({ 5, 1 }, { seed = 3 }) } end,
  forward = function(self, batch)
    if batch.training then made = made + 1 end
    if batch.training and made == at then press() end
    return batch.features:matmul(self.w):reshape(batch.lists.rows)
  end })
local function parameters(step, options)
  made, at = 0, step
  local all = { model = mr.models.pressing{}, loss = mr.losses.ndcg{}, train = many, batch = 4, progress = false }
  for name, value in pairs(options) do all[name] = value end
  local run = mr.fit(all)
  return table.concat(all.model:parameters()[1]:reshape(5):totable(), " "), run
end
]]
  it("in the middle of an epoch restores the last complete epoch's parameters if no metric chose one", function()
    for _, how in ipairs{ "", ", valid = queries, metrics = { 'bad' }",
      ", valid = queries, metrics = { 'ap' }, every = 9",
      ", valid = queries, metrics = { 'ap' }, select = { 'bad', 'ap' }", ", checkpoint = 'c.safetensors'" } do
      script(partial .. ([[
local function go(step, epochs, valid) return parameters(step, { epochs = epochs %s }) end
local expected = go(nil, 3)
os.remove "c.safetensors"
local found, run = go(36, 9)
print(found == expected, run.interrupted, #run.history, run.best.epoch)
print(run:to_json():find('"interrupted":true', 1, true) ~= nil)
]]):format(how), function(run)
        local _, out, err = run()
        equal(out, "true\ttrue\t3\t3\ntrue\n", how .. ": " .. err)
      end)
    end
  end)

  it("in the first epoch leaves the model unchanged", function()
    script(partial .. [[
local expected = parameters(nil, { epochs = 1, optimizer = mr.optim.sgd{ lr = 1e-30 } })
local found, run = parameters(6, { epochs = 3 })
print(found == expected, #run.history, run.best == nil)
]], function(run)
      local _, out, err = run()
      equal(out, "true\t0\ttrue\n", err)
    end)
  end)
end)

describe("mr.fit with patience", function()
  local mr = require "moonrank"
  local queries = mr.data.synthetic{ kind = "queries", queries = 24, features = 5, seed = 2 }
  local function fit(options)
    local all = { model = mr.models.linear{ inputs = 5 }, loss = mr.losses.ndcg{}, train = queries, valid = queries,
      epochs = 60, optimizer = mr.optim.sgd{ lr = 1e-30 }, metrics = { "ndcg" }, progress = false }
    for name, value in pairs(options) do all[name] = value end
    return mr.fit(all)
  end
  -- the learning rate changes nothing, so the first validation stays the best one
  it("counts validations, not epochs", function()
    for _, case in ipairs{ { 1, 3, 4 }, { 5, 3, 20 }, { 7, 2, 21 }, { 5, 20, 60 } } do
      local every, patience, epochs = table.unpack(case)
      local run = fit{ every = every, patience = patience }
      equal({ #run.history, run.stopped }, { epochs, epochs < 60 and "patience" },
        ("every %d, patience %d"):format(every, patience))
    end
  end)
  it("is refused without validation data", function()
    test.raises(function() fit{ patience = 2, valid = false } end, "valid")
  end)
end)
