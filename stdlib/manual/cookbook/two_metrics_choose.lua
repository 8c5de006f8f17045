-- How do I report two metrics, each at its own best epoch?
-- Name both metrics in `select`. Each metric chooses its own best epoch on validation and is evaluated on test with
-- the parameters of that epoch. `run:restore "rr"` gives the model the parameters of the epoch that RR chose.
local mr = require "moonrank"
local queries = mr.data.synthetic{ kind = "queries", queries = 80, features = 6, noise = 1, seed = 1 }
local train, valid = queries:split{ share = 0.5, seed = 1 }
local model = mr.models.mlp{ inputs = 6, hidden = { 8 }, seed = 1 }
local run = mr.fit{
  model = model,
  loss = mr.losses.ndcg{},
  train = train,
  valid = valid,
  epochs = 15,
  metrics = { "ndcg", "rr" },
  select = { "ndcg", "rr" },
  optimizer = mr.optim.adam{ lr = 0.02 },
  progress = false,
}
for _, choice in ipairs(run.choices) do print(choice.metric.name, choice.best.epoch) end
run:restore "rr"
--> ndcg	15
--> rr	7
