-- Calls a function of mr.stats on so many values that it takes very long, to test that it can be interrupted.
local mr = require "moonrank"

local count = 3000000
local function values(seed) return mr.uniform({ count }, { dtype = "float64", seed = seed }) end
local a, b = values(1), values(2)
print "begins"
io.stdout:flush()
local operations = {
  permutation = function() mr.stats.permutation(a, b, { orders = 100000000 }) end,
  bootstrap = function() mr.stats.bootstrap(a, { samples = 10000000, method = "bca" }) end,
  median = function() mr.stats.bootstrap(a, { statistic = "median", samples = 10000000 }) end,
  kde = function() mr.stats.kde(a, { points = 1000000 }) end,
  lscv = function() mr.stats.kde(a, { bandwidth = "lscv" }) end,
  regression = function() mr.stats.kernel_regression(a, b) end,
}
operations[arg[1]]()
