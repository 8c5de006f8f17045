-- How do I write a model of my own?
-- Name the model's parameters and write the forward pass, which returns one score per row. The model is then
-- trained, saved, loaded and printed like the built-in models. This example scores a row by a learned value of its
-- item times a learned value of its user.
local mr = require "moonrank"
mr.models.define("popular_for", {
  required = { users = "integer", items = "integer" },
  parameters = function(o)
    return { item = mr.zeros(o.items, { dtype = o.dtype }), user = mr.ones(o.users, { dtype = o.dtype }) }
  end,
  forward = function(self, batch) return self.item:rows(batch.items) * self.user:rows(batch.row_users) end,
})
local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 150, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 3, seed = 1 }[1]
local model = mr.models.popular_for{ users = ratings.users, items = ratings.items }
local run = mr.fit{
  model = model,
  loss = mr.losses.ap{},
  train = fold.train,
  valid = fold.valid,
  epochs = 10,
  metrics = { "ap" },
  optimizer = mr.optim.adam{ lr = 0.05 },
  progress = false,
}
print(#run.history, run.history[10].loss < run.history[1].loss)
print(model)
--> 10	true
--> popular_for{dtype = float32, items = 150, seed = 1, users = 40}, 190 parameters
-->   item  {150}  150
-->   user  {40}    40
