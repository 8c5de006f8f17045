-- How does training continue after it was interrupted?
-- Give `checkpoint` a path: the file is written after every epoch. When the same call of `mr.fit` finds the file,
-- it continues from there with identical bits. Here `each_epoch` raises an error in epoch 5, to stand for a power
-- cut.
local mr = require "moonrank"
local queries = mr.data.synthetic{ kind = "queries", queries = 40, features = 5, seed = 1 }
local function fit(path, each_epoch)
  local model = mr.models.linear{ inputs = 5, seed = 1 }
  local run = mr.fit{
    model = model,
    loss = mr.losses.ap{},
    train = queries,
    epochs = 10,
    checkpoint = path,
    each_epoch = each_epoch,
    optimizer = mr.optim.adam{ lr = 0.05 },
    progress = false,
  }
  return run, model
end
pcall(fit, "cut.safetensors", function(epoch) if epoch == 5 then error "power cut" end end)
local run, resumed = fit "cut.safetensors"
local _, whole = fit "whole.safetensors"
local function equal(a, b) return (a - b):abs():max():item() == 0 end
print("went on after epoch", run.resumed)
print("same bits", equal(resumed:parameters()[1], whole:parameters()[1]))
--> went on after epoch	4
--> same bits	true
