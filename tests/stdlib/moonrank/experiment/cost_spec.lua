-- Tests mr.experiment.cost, fit_workers and place: the cost of a run, how many processes fit into memory, and where
-- data are.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

it("mr.experiment.cost calls a function, and returns its time and memory", function()
  local called = 0
  local cost = mr.experiment.cost(function()
    called = called + mr.ones(1 << 20, 8):sum():item()
  end)
  equal(called, 1 << 23)
  check(cost.seconds > 0 and cost.processor > 0 and cost.bytes > 8 << 20, cost.bytes)
  raises(function() mr.experiment.cost(3) end, "run", "3")
end)

it("mr.experiment.fit_workers takes as many processes as fit, unless --workers asks for more", function()
  local function fitted(workers, free)
    local args = { workers = workers }
    mr.experiment.fit_workers(args, "table 2", "--size 100", 2 ^ 20, { available = free })
    return args.workers
  end
  local cores = mr.threads(2)
  equal({ fitted(nil, 3 * 2 ^ 20), fitted(nil, 1.5 * 2 ^ 20), fitted(2, 3 * 2 ^ 20) }, { nil, 1, 2 })
  local _, message = pcall(fitted, nil, 1000)
  check(message:find("--size 100", 1, true) and not message:find("--workers", 1, true), message)
  raises(function() fitted(4, 3 * 2 ^ 20) end, "--workers 4")
  mr.threads(cores)
end)

it("mr.experiment.place is in the folder of --data, if there is one", function()
  equal({ mr.experiment.place({ data = "a/b" }, "mq2008"), mr.experiment.place({ data = "" }, "mq2008"),
    mr.experiment.place({}, "mq2008") }, { "a/b/mq2008", "mq2008", "mq2008" })
  raises(function() mr.experiment.place({ data = {} }, "mq2008") end, "args.data", "table")
end)
