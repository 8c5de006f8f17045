-- Changes of the library (README.md). The text stands in its file once.
return {
  -- choices
  { file = "stdlib/moonrank/fit/choice.lua", by = "fit callbacks fit_run", change = {
    "for i = #history, from and from + 1 or #history + 1, -1 do",
    "for i = #history, from and from + 2 or #history + 1, -1 do" } },
  { file = "stdlib/moonrank/fit/choice.lua", by = "fit callbacks fit_run", change = {
    "if choice:waited(run.history) < o.patience then",
    "if choice:waited(run.history) <= o.patience then" } },
  { file = "stdlib/moonrank/fit/choice.lua", by = "fit callbacks fit_run", change = {
    "if entry.epoch % o.every ~= 0 and entry.epoch ~= o.epochs",
    "if entry.epoch % o.every ~= 0" } },
  { file = "stdlib/moonrank/fit/choice.lua", by = "fit fit_run callbacks", change = {
    "for i = #run.choices, 1, -1 do",
    "for i = 1, #run.choices do" } },
  { file = "stdlib/moonrank/fit/choice.lua", by = "fit fit_run callbacks", change = {
    "self.first = self.first or entry.epoch",
    "self.first = entry.epoch" } },
  { file = "stdlib/moonrank/metrics/registry.lua", by = "metrics fit", change = {
    "if self.minimize then return a < b end",
    "if self.minimize then return a > b end" } },
  { file = "stdlib/moonrank/results/choose.lua", by = "results sweep", change = {
    "if value and (not best or sign * value > sign * best_mean)",
    "if value and (not best or value > best_mean)" } },
  { file = "stdlib/moonrank/results/choose.lua", by = "results sweep", change = {
    "return #values == #rows and mean(values) or nil",
    "return #values > 0 and mean(values) or nil" } },
  { file = "stdlib/moonrank/results/choose.lua", by = "results sweep", change = {
    "local is_whole = #group.cells == most",
    "local is_whole = true" } },
  -- training
  { file = "stdlib/moonrank/epochs.lua", by = "fit fit_checkpoint losses/sampled epochs models", change = {
    "batch.step, batch.training = (epoch - 1) * self.count + done + 1, true",
    "batch.step, batch.training = done + 1, true" } },
  { file = "stdlib/moonrank/epochs.lua", by = "fit epochs fit_run", change = {
    "return self._lists > 0 and total / self._lists or 0",
    "return total" } },
  { file = "stdlib/moonrank/epochs.lua", by = "losses/rows fit epochs", change = {
    "if reduction == \"rows\" then values = values * lists.sizes",
    "if reduction == \"lists\" then values = values * lists.sizes" } },
  { file = "stdlib/moonrank/schedule.lua", by = "schedule", change = {
    "return at.low + (1 - at.low) * 0.5 * (1 + cos_pi((step - 1) / whole))",
    "return at.low + (1 - at.low) * 0.5 * (1 + cos_pi(step / whole))" } },
  { file = "stdlib/moonrank/schedule.lua", by = "schedule", change = {
    "for _ = 1, (step - 1) // (plan.per_epoch * at.every) do",
    "for _ = 1, step // (plan.per_epoch * at.every) do" } },
  { file = "stdlib/moonrank/schedule.lua", by = "schedule", change = {
    "if bad > at.patience then",
    "if bad >= at.patience then" } },
  { file = "stdlib/moonrank/schedule.lua", by = "schedule", change = {
    "return step <= n and step / n or after.factor(step - n)",
    "return step <= n and step / n or after.factor(step)" } },
  { file = "stdlib/moonrank/optim.lua", by = "optim", change = {
    "made(\"rmsprop\", options, { lr = 0.01, alpha = 0.99",
    "made(\"rmsprop\", options, { lr = 0.01, alpha = 0.9" } },
  { file = "stdlib/moonrank/losses/newton.lua", by = "models/trees models/trees_golden", change = {
    "/ (2 * step)",
    "/ step" } },
  { file = "stdlib/moonrank/losses/newton.lua", by = "models/trees models/trees_golden", change = {
    "derivatives * derivatives) / lists.sizes",
    "derivatives * derivatives) / (lists.sizes + 1)" } },
  -- sweeps
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "if #values < o.startup then return false end",
    "if #values <= o.startup then return false end" } },
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "return best < median(values)",
    "return best <= median(values)" } },
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "if n % 2 == 1 then return values[n // 2 + 1] end",
    "if n % 2 == 1 then return values[n // 2 + 2] end" } },
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "while rung * o.factor <= step do",
    "while rung * o.factor < step do" } },
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "return better >= math.max(1, count // o.factor)",
    "return better > math.max(1, count // o.factor)" } },
  { file = "stdlib/moonrank/sweep/pruners.lua", by = "sweep/pruners", change = {
    "test.p / 2 < o.p",
    "test.p < o.p" } },
  { file = "stdlib/moonrank/sweep/hyperband.lua", by = "sweep/hyperband", change = {
    "local first = ((most + 1) * power + s) // (s + 1)",
    "local first = ((most + 1) * power) // (s + 1)" } },
  { file = "stdlib/moonrank/sweep/hyperband.lua", by = "sweep/hyperband", change = {
    "if a.worth ~= b.worth then return a.worth > b.worth end",
    "if a.worth ~= b.worth then return a.worth < b.worth end" } },
  -- protocols
  { file = "stdlib/moonrank/data/protocol.lua", by = "data/protocol data/ratings", change = {
    "if o.grades and not (options and options.nsr) then o.nsr = 0 end",
    "if o.grades then o.nsr = 0 end" } },
  { file = "stdlib/moonrank/data/candidates.lua", by = "data/candidates", change = {
    "if self.part == \"test\" and self.fold.valid.lists.rows > 0 then parts[2] = self.fold.valid end",
    "" } },
  { file = "stdlib/moonrank/data/candidates.lua", by = "data/candidates", change = {
    "for at = 1, #users, size do",
    "for at = 1, #users - 1, size do" } },
  { file = "stdlib/moonrank/data/corrections.lua", by = "data/corrections data/candidates", change = {
    "local r = n:double() * (ranks - 1) / sampled:maximum(1) + 1",
    "local r = n:double() * ranks / sampled:maximum(1)" } },
  { file = "stdlib/moonrank/data/corrections.lua", by = "data/corrections data/candidates", change = {
    "ndcg = function(r) return core.number_log(2) / (r + 1):log() end",
    "ndcg = function(r) return 1 / (r + 1):log() end" } },
  { file = "stdlib/moonrank/data/corrections.lua", by = "data/corrections data/candidates", change = {
    "auc = function(r, n) return (n - r) / (n - 1) end",
    "auc = function(r, n) return (n - r) / n end" } },
  { file = "stdlib/moonrank/data/retrieved.lua", by = "compare data/scored", change = {
    "return rescaled(plain(m, r), within(found, k), within(all, k))",
    "return rescaled(plain(m, r), found, all)" } },
  { file = "stdlib/moonrank/data/retrieved.lua", by = "compare data/scored", change = {
    "* (2 * m.k) / (all + m.k) end",
    "* (2 * m.k) / (found + m.k) end" } },
  { file = "stdlib/moonrank/data/retrieved.lua", by = "compare data/scored", change = {
    "local order = -relevant - (r.lists.rows + 1)",
    "local order = relevant - (r.lists.rows + 1)" } },
  -- statistics
  { file = "stdlib/moonrank/stats/linear_model.lua", by = "stats/linear_model", change = {
    "self.df > 0 and math.sqrt(residual / self.df)",
    "self.df > 0 and math.sqrt(residual / self.n)" } },
  { file = "stdlib/moonrank/stats/linear_model.lua", by = "stats/linear_model", change = {
    "self.r2 = 1 - residual / (total * total):sum():item()",
    "self.r2 = residual / (total * total):sum():item()" } },
  { file = "stdlib/moonrank/stats/linear_model.lua", by = "stats/linear_model", change = {
    "columns[k - 1] = k == value and 1 or 0",
    "columns[k - 1] = k >= value and 1 or 0" } },
}
