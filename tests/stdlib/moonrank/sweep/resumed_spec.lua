-- Tests interrupted trials: the stored time is the sum over all attempts, and no trial uses the checkpoint of another
-- study.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local sweeps = require "tests.support.sweeps"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local queries = mr.data.synthetic{ kind = "queries", queries = 24, features = 5, seed = 2 }

local function wait(seconds)
  local from = core.clock()
  while core.clock() - from < seconds do end
end

-- A study of one trial with four epochs. If the file `cut` exists, the trial is interrupted after epoch 2.
local function sweep(folder)
  return mr.sweep{ name = "parts", store = folder .. "/results.db", metric = "ndcg", workers = 0, progress = false,
    space = { x = mr.choice{ 1 } }, run = function(trial)
      local run = mr.fit{ model = mr.models.linear{ inputs = 5 }, loss = mr.losses.ndcg{}, train = queries,
        test = queries, epochs = 4, metrics = { "ndcg" }, progress = false, trial = trial, checkpoint = true,
        each_epoch = function(epoch)
          wait(0.1)
          if epoch == 2 and core.file_exists(folder .. "/cut") then error("interrupted", 0) end
        end }
      if run.interrupted then error("interrupted", 0) end
      return { ndcg = run.test.mean.ndcg, resumed = run.resumed }
    end }
end

-- Runs the sweep with an interrupted trial. The next run is not interrupted.
local function interrupt(folder)
  sweeps.write(folder .. "/cut", "")
  raises(function() sweep(folder) end, "interrupted")
  os.remove(folder .. "/cut")
end

local function column(results, name) return results:columns():column(name)[1] end

describe("an interrupted trial", function()
  it("resumes, and its time is the sum of both parts", function()
    local folder = sweeps.new_folder()
    interrupt(folder)
    local results = sweep(folder)
    equal(column(results, "resumed"), 1.0)
    local wall = column(results, "wall")
    check(wall >= 0.5, ("three waits of 0.1 s, then three more: %g s"):format(wall))
  end)
  it("leaves a checkpoint that a new study with the same name rejects", function()
    local folder = sweeps.new_folder()
    interrupt(folder)
    os.execute(("rm -f %s/results.db %s/results.db-*"):format(folder, folder))
    raises(function() sweep(folder) end, "checkpoints")
    os.execute("rm -rf " .. folder .. "/results.db.files")
    equal(column(sweep(folder), "resumed"), 0.0)
  end)
end)
