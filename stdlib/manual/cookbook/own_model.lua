-- How do I write a model of my own?
-- Name its parameters and write the forward pass: one score per row. It is then trained, saved, loaded and printed like the built-in ones. This
-- one scores an item by its popularity among all and a factor of the user.
local mr = require "moonrank"
mr.models.define("popular_for", {
  required = { users = "integer", items = "integer" },
  parameters = function(o) return { item = mr.zeros(o.items, { dtype = o.dtype }), user = mr.ones(o.users, { dtype = o.dtype }) } end,
  forward = function(self, batch) return self.item:rows(batch.items) * self.user:rows(batch.row_users) end,
})
local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 150, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 3, seed = 1 }[1]
local model = mr.models.popular_for{ users = ratings.users, items = ratings.items }
local run = mr.fit{ model = model, loss = mr.losses.ap{}, train = fold.train, valid = fold.valid, epochs = 10, metrics = { "ap" },
  optimizer = mr.optim.adam{ lr = 0.05 }, progress = false }
print(#run.history, run.history[10].loss < run.history[1].loss)
print(model)
--> 10	true
--> popular_for{dtype = float32, items = 150, seed = 1, users = 40}, 190 parameters
-->   item  {150}  150
-->   user  {40}    40
