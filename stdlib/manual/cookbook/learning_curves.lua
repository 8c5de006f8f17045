-- How do I draw learning curves?
-- `run:plot` draws the curves of a training run, and `run:to_csv` has the numbers of every epoch for other
-- programs. Figures need gnuplot; the extension of the file name decides the format.
local mr = require "moonrank"
local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 6, noise = 1, seed = 1 }
local train, valid = queries:split{ share = 0.5, seed = 1 }
local run = mr.fit{
  model = mr.models.linear{ inputs = 6, seed = 1 },
  loss = mr.losses.ap{},
  train = train,
  valid = valid,
  epochs = 8,
  optimizer = mr.optim.adam{ lr = 0.02 },
  metrics = { "ap" },
  progress = false,
}
run:plot{ title = "Linear model, made-up queries" }:save "curves.svg"
print(run:to_csv():match "^[^\n]*")
--> epoch,loss,valid_loss,ap
