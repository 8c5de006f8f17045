-- Writes a store (SQLite file) of one study with many finished trials, in one transaction: three bounds, five folds and
-- seven losses. Each trial has a value and a metric.
local store = require "moonrank.sweep.store"

---@param path string
---@param count integer  trials
return function(path, count)
  local opened <close> = store.open(path, "write")
  local row = opened:set_study{ name = "large", space = "", sampler = "grid", seed = 1, direction = "maximize",
    script = "", script_name = "", settings = "", data = "", version = "" }
  opened:transaction(function()
    opened:columns([[WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
      INSERT INTO trials (study, number, state, attempts, seed, params, value) SELECT ?1, i, 'done', 1, i,
      json_object('bound', 'b' || (i % 3), 'fold', i % 5, 'loss', 'l' || (i % 7), 'lr', i / 7.0), i % 1000 FROM n]],
      row.id, count)
    opened:columns("INSERT INTO numbers SELECT id, 'ndcg', number * 0.5 FROM trials")
  end)
end
