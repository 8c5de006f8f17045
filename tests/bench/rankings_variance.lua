-- Measures a variance, not a time: how much the estimated derivatives of mr.losses.policy_gradient and
-- mr.losses.pl_rank vary over independent draws of `samples` rankings. Prints the variance of the derivative summed
-- over the rows of one list, and its ratio to that of PL-Rank.
-- Usage: moonrank tests/bench/rankings_variance.lua [--rows 31,128] [--samples 20] [--csv FILE]
local mr = require "moonrank"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  metrics = { default = { "ndcg", "ndcg@10" }, help = "of the rankings, sums over rows" },
  rows = { default = { 31, 128 }, help = "rows of the list" },
  samples = { default = 20, help = "rankings of each estimate" },
  draws = { default = 200, help = "independent estimates" },
}

local function variance(name, metric, n)
  local grades, lists = {}, {}
  for i, u in ipairs(mr.uniform({ n }, { seed = n }):totable()) do grades[i] = u > 0.9 and 1 or u > 0.8 and 2 or 0 end
  for draw = 1, args.draws do lists[draw] = grades end
  local f64 = { dtype = "float64" }
  local scores = mr.normal({ 1, n }, { seed = 1, dtype = "float64" }) + mr.zeros({ args.draws, 1 }, f64)
  local x = scores:reshape(args.draws * n):detach():requires_grad()
  mr.seed(1)
  mr.losses[name]{ metric = metric, samples = args.samples }(x, mr.lists(lists)):sum():backward()
  local found = x.grad:reshape(args.draws, n)
  return ((found - found:mean(1))^2):sum():item() / (args.draws - 1)
end

local rows = {}
for _, n in ipairs(args.rows) do
  for _, metric in ipairs(args.metrics) do
    local policy, pl_rank = variance("policy_gradient", metric, n), variance("pl_rank", metric, n)
    rows[#rows + 1] = { n, metric, policy, pl_rank, policy / pl_rank }
  end
end
local columns = { "rows", "metric", "policy_gradient", "pl_rank", "ratio" }
local formats = { policy_gradient = "%.3g", pl_rank = "%.3g", ratio = "%.3g" }
local result = mr.table{ columns = columns, rows = rows, formats = formats }
if args.csv then require("moonrank.core").write_file(args.csv, result:to_csv()) end
print(("Variance of derivatives by %d rankings, over %d draws. %s."):format(args.samples, args.draws, bench.where()))
print(result)
