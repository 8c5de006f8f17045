-- Tests numbers and sizes at the limits of their types: they must give the right result, or an error that names them.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local inf, nan = math.huge, 0 / 0
local least, most = math.mininteger, math.maxinteger

describe("mr.bounds.distribution", function()
  it("refuses NaN, infinite and too large values, and takes values up to 1e150", function()
    for _, bad in ipairs{ nan, inf, -inf, 1e308, -1e308, 1e151 } do
      raises(function() mr.bounds.distribution_of{ 0.5, bad } end, "'values'", "'mr.bounds.distribution_of'", "2")
    end
    raises(function() mr.bounds.distribution_of{} end, "distribution_of", "distribution")
    local wide = mr.bounds.distribution_of{ -1e150, 1e150 }
    near({ wide:mean() / 1e150, wide:sd() / 1e150, wide:cdf(0) }, { 0, 1, 0.5 }, 1e-12)
    for _, tabled in ipairs{ false, true } do near((wide:smooth(0, { tabled = tabled })), 0.5, 1e-9) end
    near({ mr.bounds.distribution_of{ 0, 5e-324 }:smooth(0) }, { 0.5, 0 }, 0)
  end)

  it("refuses a steepness outside 1e-9 to 1e150, and smooths with any other", function()
    local listed, long = mr.bounds.distribution_of{ 0, 1 }, mr.bounds.distribution("ndcg", { n = 60, p = 20 })
    for _, d in ipairs{ listed, long } do
      for _, tabled in ipairs{ false, true } do
        for _, o in ipairs{ { kappa = 1e-300 }, { kappa = 1e300 }, { steepness = 5e-324 }, { steepness = 1e308 },
          { steepness = 1e-12 } } do
          o.tabled = tabled
          raises(function() d:smooth(0.5, o) end, "1e-9", "1e150")
        end
        for _, kappa in ipairs{ 1e-5, 0.1, 50 } do
          local value, slope = d:smooth(0.9, { kappa = kappa, tabled = tabled })
          check(value >= 0.4 and value <= 1 and slope >= 0 and slope < inf, ("%g: %g, %g"):format(kappa, value, slope))
        end
      end
    end
    raises(function() listed:smooth(0.5, { kappa = 1e300 }) end, "kappa", "steepness 2e+300", "range 1,")
    near((listed:smooth(0.5, { steepness = 1e120 })), 0.5, 0)
  end)

  it("has the exact statistics of grades up to 1000", function()
    for _, grades in ipairs{ { 1000, 1000, 1, 0 }, { 1000, 0, 0 }, { 600, 500, 0 } } do
      local found, low, high, square = mr.bounds.of("ndcg", { grades = grades }), inf, -inf, 0
      -- computes nDCG of all orders by hand, with gains divided by the largest gain
      local sums, count = {}, 0
      local function place(left, rank, sum)
        if #left == 0 then sums[#sums + 1] = sum end
        for i = 1, #left do
          local rest = { table.unpack(left) }
          local grade = table.remove(rest, i)
          place(rest, rank + 1, sum + (grade > 0 and 2.0 ^ (grade - grades[1]) or 0) / math.log(rank + 1, 2))
        end
      end
      place(grades, 1, 0)
      for _, s in ipairs(sums) do low, high, count = math.min(low, s), math.max(high, s), count + s / #sums end
      for _, s in ipairs(sums) do square = square + (s - count) ^ 2 / #sums end
      local moments = { found.min, found.max, found.expectation, found.sd }
      near(moments, { low / high, 1, count / high, math.sqrt(square) / high }, 1e-9)
    end
  end)

  it("refuses beta if the weights of the grades overflow", function()
    for _, beta in ipairs{ 1, -1, 700, 1e308, -1e308 } do
      for _, method in ipairs{ "auto", "sampled" } do
        local o = { grades = { 1000, 3, 2, 0 }, beta = beta, method = method, samples = 100 }
        raises(function() mr.bounds.distribution("ndcg", o) end, "1000", "300", "grade")
      end
    end
    for _, beta in ipairs{ 1e308, -1e308 } do
      raises(function() mr.bounds.distribution("ap", { n = 20, p = 5, beta = beta }) end, "308")
    end
  end)
end)

describe("sizes near 2^63", function()
  it("are refused as arguments of random, drawn and listed orders", function()
    for _, n in ipairs{ least, -1, 1 << 62, most } do
      raises(function() core.random_ranks(3, n, 2, 1) end, "'first'", "'random_ranks'")
      raises(function() core.drawn_ranks({ 1, 2 }, n, 2, 1) end, "'first'", "'drawn_ranks'")
      raises(function() core.random_ranks(n, 0, 2, 1) end, n < 0 and "'rows'" or "'count'", "'random_ranks'")
      for _, rows in ipairs{ 0, 1, 3 } do raises(function() core.random_ranks(rows, 0, n, 1) end,
        "'count'", "'random_ranks'") end
      raises(function() core.drawn_ranks({}, 0, n, 1) end, "'count'", "'drawn_ranks'")
      raises(function() core.list_copies({}, n) end, "'count'", "'list_copies'")
    end
    equal(#core.random_ranks(2, 1 << 53, 3, 1), 6)
    raises(function() core.drawn_ranks({ nan, 1 }, 0, 1, 1) end, "NaN")
    raises(function() core.arrangement_ranks({ nan, nan, 1 }, 5) end, "NaN")
    for _, bad in ipairs{ nan, -1, 1e39, inf } do
      raises(function() mr.bounds.of("err", { grades = { 1, bad } }) end, "grades")
    end
  end)

  it("are refused by tensors, parts and lists, and allowed as cutoffs", function()
    for _, n in ipairs{ least, -1, 1 << 62, most } do
      for _, f in ipairs{
        function() mr.zeros(n, n) end, function() mr.ones(4):reshape(n, n) end,
        function() mr.ones(4):narrow(1, n, n) end, function() mr.ones(4):narrow(1, 1, n) end,
        function() mr.ones(4):sum(n) end, function() mr.ones(4):size(n) end,
        function() return mr.ones(4)[n] end, function() core.lists({ n }, mr.ones(1), {}, {}) end,
        function()
          local one, no = mr.tensor({ 1 }, { dtype = "int64" }), mr.tensor({}, { dtype = "int64" })
          core.positives(one, one, mr.ones(1), no, no, n, n, 1, 0, false)
        end,
      } do
        local ok, message = pcall(f)
        check(not ok and not message:find("vector", 1, true), tostring(message))
      end
    end
    for _, k in ipairs{ 4, 1 << 40, 1 << 62, most } do
      for _, name in ipairs{ "ndcg", "ap", "rr", "err", "rbp", "nrbp", "dcg", "recall", "hit" } do
        for _, ties in ipairs{ "mean", "stable", "worst" } do
          local function value(cutoff)
            local o = { k = cutoff, ties = ties }
            return mr.metrics[name](mr.tensor{ 1, 1, 2, 0 }, mr.lists{ { 1, 0, 1, 0 } }, o):item()
          end
          equal(value(k), value(4), name)
        end
      end
    end
  end)
end)

it("conversion to int64 refuses values that int64 does not hold", function()
  for _, dtype in ipairs{ "float32", "float64" } do
    for _, bad in ipairs{ nan, inf, -inf, 0x1p63, -0x1p64, 1e38 } do
      local x = mr.tensor({ 7, bad }, { dtype = dtype })
      raises(function() x:long() end, "2", "int64")
      raises(function() x:to "int64" end, "2", "int64")
      raises(function() core.integers(x) end, "2", "int64")
    end
    equal(mr.tensor({ -0x1p63, -0.5, 2.9 }, { dtype = dtype }):long():totable(), { least, 0, 2 })
  end
  raises(function() core.arange(0, 0x1p52 * 2000, 0x1p52, "int64") end, "'last'")
  raises(function() core.arange(0, 0x1p53, 1.5, "int64") end, "'step'")
  raises(function() core.arange(0x1p53, 0x1p53, 1, "int64") end, "'first'")
  equal(core.arange(0x1p53 - 2, 0x1p53 - 1, 1, "int64"):totable(), { (1 << 53) - 2, (1 << 53) - 1 })
end)

it("core.least_squares refuses a matrix without columns, and takes one without rows", function()
  for _, rows in ipairs{ 0, 3 } do
    raises(function() core.least_squares(mr.zeros(rows, 0), mr.ones(rows)) end, "at least one column")
  end
  local _, _, squares, rank = core.least_squares(mr.zeros(0, 2), mr.ones(0))
  check(squares ~= squares and rank == 0)
end)
