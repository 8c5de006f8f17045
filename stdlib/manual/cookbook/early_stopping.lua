-- How do I stop when validation no longer improves?
-- `patience = 5` ends training after 5 validations in a row without a better value; by default, every epoch is
-- validated. A function `each_epoch` can end training for any other reason by returning false. In both cases the
-- model gets the parameters of its best epoch.
local mr = require "moonrank"
local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 6, noise = 1, seed = 1 }
local train, valid = queries:split{ share = 0.5, seed = 1 }
local function fit(more)
  local o = {
    model = mr.models.linear{ inputs = 6, seed = 1 },
    loss = mr.losses.ndcg{},
    train = train,
    valid = valid,
    epochs = 200,
    optimizer = mr.optim.adam{ lr = 0.05 },
    metrics = { "ndcg" },
    progress = false,
  }
  for name, value in pairs(more) do o[name] = value end
  return mr.fit(o)
end
local patient = fit{ patience = 5 }
print(patient.stopped, #patient.history - patient.best.epoch)
print(fit{ each_epoch = function(epoch) return epoch < 3 end }.stopped)
--> patience	5
--> each_epoch
