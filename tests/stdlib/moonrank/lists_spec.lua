-- Tests judged lists: how they are made, and operations per list, against plain loops.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function index(t) return mr.tensor(t, { dtype = "int64" }) end

-- Numbers of rows in test lists: sizes around which kernels change their algorithm, and empty lists at both ends and
-- between.
local sizes = { 0, 1, 31, 32, 0, 0, 33, 127, 128, 129, 1000, 2, 0 }
local rows = 0
for _, n in ipairs(sizes) do rows = rows + n end

local function ragged(seed)
  local y = mr.uniform({ rows }, { seed = seed }):totable()
  for i, v in ipairs(y) do y[i] = v < 0.2 and 2 or v < 0.5 and 1 or 0 end
  return mr.lists{ relevance = y, sizes = sizes }, y
end

-- Returns f(values of the list) for each list.
local function per_list(values, f)
  local out, at = {}, 0
  for l, n in ipairs(sizes) do
    out[l] = f(table.move(values, at + 1, at + n, 1, {}))
    at = at + n
  end
  return out
end

-- Concatenates the tables that f returns for each list.
local function per_row(values, f)
  local out = {}
  for _, part in ipairs(per_list(values, f)) do table.move(part, 1, #part, #out + 1, out) end
  return out
end

local function total(run)
  local s = 0
  for _, v in ipairs(run) do s = s + v end
  return s
end

describe("mr.lists", function()
  it("makes the same lists from tables, sizes or ids", function()
    local relevance = { 1, 0, 0, 1, 0, 1, 0 }
    for _, lists in ipairs{
      mr.lists{ { 1, 0, 0, 1 }, { 0, 1, 0 } }, mr.lists{ relevance = relevance, sizes = { 4, 3 } },
      mr.lists{ relevance = mr.tensor(relevance), sizes = index{ 4, 3 } },
      mr.lists{ relevance = index(relevance), sizes = { 4, 3 } },
      mr.lists{ relevance = relevance, ids = { 5, 5, 5, 5, 2, 2, 2 } },
      mr.lists{ relevance = relevance, ids = index{ 5, 5, 5, 5, 2, 2, 2 } },
    } do
      equal({ lists.count, #lists, lists.rows }, { 2, 2, 7 })
      equal(lists.sizes:totable(), { 4, 3 })
      equal(lists.relevance:totable(), relevance)
      equal(lists.relevant:totable(), { 2, 1 })
      equal({ lists.sizes.dtype, lists.relevance.dtype, lists.relevant.dtype }, { "int64", "float32", "int64" })
      equal(tostring(lists), "mr.Lists: 2 lists, 7 rows")
    end
  end)

  it("keeps names of lists and rows", function()
    local lists = mr.lists{ relevance = { 1, 0, 2 }, ids = { "q1", "q1", "q2" }, documents = { "a", "b", "c" } }
    equal(lists.ids, { "q1", "q2" })
    equal(lists.documents, { "a", "b", "c" })
    local turned = lists:select(index{ 2, 1 })
    equal({ turned.ids, turned.documents }, { { "q2", "q1" }, { "c", "a", "b" } })
    equal(mr.lists{ { 1 } }.ids, {})
  end)

  it("takes no lists, and lists without rows", function()
    local none, empty = mr.lists{}, mr.lists{ {}, {} }
    equal({ none.count, none.rows, empty.count, empty.rows }, { 0, 0, 2, 0 })
    equal(none:sum(mr.zeros(0)):totable(), {})
    equal(empty:sum(mr.zeros(0)):totable(), { 0, 0 })
    equal(empty:mean(mr.zeros(0)):totable(), { 0, 0 })
    equal(empty:max(mr.zeros(0)):totable(), { -1 / 0, -1 / 0 })
    equal(empty:softmax(mr.zeros(0)):totable(), {})
    equal(empty:spread(mr.ones(2)):totable(), {})
    equal(empty:head(3):totable(), {})
    equal(empty.relevant:totable(), { 0, 0 })
  end)

  it("counts rows with a grade of at least 1 as relevant", function()
    equal(mr.lists{ { 0.5, 1, 2, 0.99 }, { 0 } }.relevant:totable(), { 2, 0 })
    local lists, y = ragged(1)
    equal(lists.relevant:totable(), per_list(y, function(run)
      local n = 0
      for _, v in ipairs(run) do if v >= 1 then n = n + 1 end end
      return n
    end))
  end)
end)

describe("mr.Lists", function()
  local lists = ragged(1)
  local x = mr.normal({ rows }, { seed = 2, dtype = "float64" })
  local values = x:totable()
  local cases = {
    sum = total, mean = function(run) return #run > 0 and total(run) / #run or 0 end,
    max = function(run) return math.max(-1 / 0, table.unpack(run)) end,
  }
  for name, f in pairs(cases) do
    it(name .. " agrees with a loop over each list, in float32 and float64", function()
      near(lists[name](lists, x), per_list(values, f), 1e-12)
      near(lists[name](lists, x:float()), per_list(values, f), 1e-5)
      if name == "max" then
        -- the maximum of an empty list is -inf, which has no finite differences, so empty lists are left out
        mr.gradcheck(function(t) return lists:max(t):rows(index{ 2, 3, 4, 7, 8, 9, 10, 11, 12 }) end, x)
      else
        mr.gradcheck(function(t) return lists[name](lists, t) end, x)
      end
    end)
  end

  it("softmax agrees with a loop over each list, also for large values", function()
    near(lists:softmax(x), per_row(values, function(run)
      local out, sum = {}, 0
      for i, v in ipairs(run) do
        out[i] = math.exp(v)
        sum = sum + out[i]
      end
      for i in ipairs(out) do out[i] = out[i] / sum end
      return out
    end), 1e-13)
    near(lists:sum(lists:softmax(x * 1000)), per_list(values, function(run) return #run > 0 and 1 or 0 end), 1e-12)
    local small = mr.lists{ { 1, 0, 1 }, {}, { 1 }, { 0, 0 } }
    mr.gradcheck(function(t) return small:softmax(t) end, mr.normal({ 6 }, { seed = 3, dtype = "float64" }))
  end)

  it("spread repeats each list's value for its rows", function()
    local v = mr.normal({ lists.count }, { seed = 4, dtype = "float64" })
    local each, expected = v:totable(), {}
    for l, n in ipairs(sizes) do
      for _ = 1, n do expected[#expected + 1] = each[l] end
    end
    equal(lists:spread(v):totable(), expected)
    mr.gradcheck(function(t) return lists:spread(t) * x end, v)
  end)

  it("head gives indices of the first k rows of each list", function()
    for _, k in ipairs{ 0, 1, 32, 5000 } do
      local expected, at = {}, 0
      for _, n in ipairs(sizes) do
        for i = 1, math.min(n, k) do expected[#expected + 1] = at + i end
        at = at + n
      end
      equal(lists:head(k):totable(), expected)
    end
    near(x:rows(lists:head(1)), per_row(values, function(run) return { run[1] } end), 0)
  end)

  it("select takes lists in any order with repeats, and rows_of and take_rows find their rows", function()
    local some = index{ 4, 2, 1, 4 }
    local chosen = lists:select(some)
    equal(chosen.sizes:totable(), { 32, 1, 0, 32 })
    local y = lists.relevance
    equal(chosen.relevance:totable(), y:rows(lists:rows_of(some)):totable())
    equal(chosen.relevance:narrow(1, 1, 32):totable(), y:narrow(1, 33, 32):totable())
    near(chosen:sum(x:rows(lists:rows_of(some))), lists:sum(x):rows(some), 1e-12)
    equal(lists:take_rows(x, some):totable(), x:rows(lists:rows_of(some)):totable())
    equal(lists:select(index{}).count, 0)
  end)

  it("with_relevance gives the same lists with other grades", function()
    local other = lists:with_relevance(lists.relevance * 0 + 3)
    equal(other.relevant:totable(), other.sizes:totable())
    equal(lists.relevance:max():item(), 2.0)
  end)

  it("rank and order count from 1 within each list", function()
    local small = mr.lists{ { 1, 0, 1 }, {}, { 1 }, { 0, 0 } }
    local scores = mr.tensor{ 0.2, 0.9, 0.5, 7, 1, 2 }
    equal(small:rank(scores):totable(), { 3, 1, 2, 1, 2, 1 })
    equal(small:order(scores):totable(), { 2, 3, 1, 4, 6, 5 })
  end)

  it("gives the same bits with any number of threads", function()
    local was = core.threads()
    local function all()
      local out = {}
      for _, name in ipairs{ "sum", "mean", "max", "softmax" } do
        local leaf = x:detach():requires_grad()
        local value = lists[name](lists, leaf)
        value:backward(mr.normal(value:shape(), { seed = 5, dtype = "float64" }))
        out[#out + 1] = { value:totable(), leaf.grad:totable() }
      end
      return out
    end
    core.threads(1)
    local one = all()
    core.threads(4)
    equal(all(), one)
    core.threads(was)
  end)

  it("max passes its derivative to the first of equal rows", function()
    local small = mr.lists{ { 0, 0, 0 }, { 0, 0 } }
    local t = mr.tensor{ 1, 5, 5, 2, 2 }:requires_grad()
    small:max(t):sum():backward()
    equal(t.grad:totable(), { 0, 1, 0, 1, 0 })
  end)
end)

describe("list reductions over the rows of a matrix", function()
  local lists, _ = ragged(2)
  local width = 3
  local x = mr.normal({ rows, width }, { seed = 5, dtype = "float64" })

  local function column(of, c) return of:narrow(2, c, 1):reshape(#of) end

  it("equal the reductions of each column", function()
    for _, name in ipairs{ "sum", "mean", "max", "softmax" } do
      local all = lists[name](lists, x)
      equal(all:shape(), { name == "softmax" and rows or #sizes, width })
      for c = 1, width do near(column(all, c), lists[name](lists, column(x, c)), 1e-12, name) end
      near(lists[name](lists, x:float()):double(), all, 1e-5, name)
      -- values with a third dimension are treated like more columns
      equal(lists[name](lists, mr.stack({ x, x }, 3)):shape(), { #all, width, 2 })
      near(lists[name](lists, mr.stack({ x, x }, 3)):narrow(3, 2, 1):reshape(#all, width), all, 1e-15, name)
    end
  end)

  it("repeat each list's row with spread, for any type", function()
    local v = mr.normal({ #sizes, width }, { seed = 6, dtype = "float64" })
    local spread = lists:spread(v)
    for c = 1, width do equal(column(spread, c):totable(), lists:spread(column(v, c)):totable()) end
    local numbers, expected = mr.arange(1, #sizes, { dtype = "int64" }), {}
    for l, n in ipairs(sizes) do for _ = 1, n do expected[#expected + 1] = l end end
    equal({ lists:spread(numbers).dtype, lists:spread(numbers):totable() }, { "int64", expected })
    raises(function() return lists:spread(index{ 1 }) end, "v", "{1}", "13")
  end)

  it("have right gradients", function()
    local few = mr.lists{ { 0, 1 }, {}, { 1 }, { 0, 0, 1 } }
    local y, w = mr.normal({ 6, 2 }, { seed = 1 }), mr.normal({ 4, 2 }, { seed = 2, dtype = "float64" })
    for _, name in ipairs{ "sum", "mean", "softmax" } do
      check(mr.gradcheck(function(t) return few[name](few, t) end, y) < 1e-8, name)
    end
    check(mr.gradcheck(function(t) return few:max(t):rows(index{ 1, 3, 4 }) end, y) < 1e-8)
    check(mr.gradcheck(function(t) return few:spread(t) end, w) < 1e-8)
  end)

  it("take no lists, lists without rows, and no columns", function()
    local none, empty = mr.lists{}, mr.lists{ {}, {} }
    equal(none:sum(mr.zeros(0, 2)):shape(), { 0, 2 })
    equal(empty:sum(mr.zeros(0, 2)):totable(), { { 0, 0 }, { 0, 0 } })
    equal(empty:mean(mr.zeros(0, 2)):totable(), { { 0, 0 }, { 0, 0 } })
    equal(empty:max(mr.zeros(0, 2)):totable(), { { -1 / 0, -1 / 0 }, { -1 / 0, -1 / 0 } })
    equal(empty:softmax(mr.zeros(0, 2)):shape(), { 0, 2 })
    equal(empty:spread(mr.ones(2, 3)):shape(), { 0, 3 })
    equal(mr.lists{ { 1, 0 } }:sum(mr.zeros(2, 0)):shape(), { 1, 0 })
  end)

  it("keep NaN in max, and pass its derivative to the first of equal rows", function()
    local small = mr.lists{ { 0, 0, 0 } }
    equal(small:max(mr.tensor{ { 1, 2 }, { 0 / 0, 3 }, { 5, 3 } }):totable(), { { 0 / 0, 3 } })
    local t = mr.tensor{ { 1, 5 }, { 1, 7 }, { 0, 7 } }:requires_grad()
    small:max(t):sum():backward()
    equal(t.grad:totable(), { { 1, 0 }, { 0, 1 }, { 0, 0 } })
  end)
end)

describe("errors of mr.lists and its methods", function()
  local lists = mr.lists{ { 1, 0 }, { 0 } }
  local cases = {
    { function() return mr.lists(3) end, "mr.lists", "3" },
    { function() return mr.lists{ { 1 }, 2 } end, "mr.lists", "list 2 is 2" },
    { function() return mr.lists{ { 1, "x" } } end, "2", "string" },
    { function() return mr.lists{ relevance = { 1 } } end, "mr.lists", "sizes", "ids" },
    { function() return mr.lists{ relevance = { 1 }, sizes = { 1 }, ids = { 1 } } end, "sizes", "ids" },
    { function() return mr.lists{ relevance = { 1 }, size = { 1 } } end, "'size'", "'sizes'" },
    { function() return mr.lists{ relevance = { 1, 0 }, sizes = { 3 } } end, "3", "2", "rows" },
    { function() return mr.lists{ relevance = { 1 }, sizes = { 2, -1 } } end, "2", "-1" },
    { function() return mr.lists{ relevance = { 1 }, sizes = { 1 << 40 } } end, "1", "1099511627776" },
    { function() return mr.lists{ relevance = { 1 }, sizes = { 0.5 } } end, "'sizes'", "integers" },
    { function() return mr.lists{ { 1, -1 } } end, "2", "-1.000000" },
    { function() return mr.lists{ { 0 / 0 } } end, "relevance", "row 1", "NaN" },
    { function() return mr.lists{ { 1 / 0 } } end, "1", "inf" },
    { function() return mr.lists{ relevance = { 1, 0, 1 }, ids = { "a", "b", "a" } } end, "'a'", "3" },
    { function() return mr.lists{ relevance = { 1, 0 }, ids = { 1, 1 }, documents = { "a" } } end, "1", "2", "rows" },
    { function() return lists:sum(mr.ones(2)) end, "x", "2", "lists", "3" },
    { function() return lists:sum(mr.ones(2, 3)) end, "x", "6", "lists", "3" },
    { function() return lists:spread(mr.ones(3, 2)) end, "v", "{3, 2}", "2" },
    { function() return lists:softmax(index{ 1, 2, 3 }) end, "int64" },
    { function() return lists:spread(mr.ones(3)) end, "v", "3", "2" },
    { function() return lists:head(-1) end, "-1", "0" },
    { function() return lists:select(index{ 3 }) end, "index", "3", "1" },
    { function() return lists:take_rows(mr.ones(1), index{ 1 }) end, "{1}", "row" },
    { function() return lists:select(mr.ones(1)) end, "index", "float32" },
    { function() return lists:with_relevance(mr.ones(2)) end, "2", "3", "entries", "rows" },
    { function() return lists:with_relevance(mr.tensor{ 1, 0, 0 / 0 }) end, "relevance", "row 3", "NaN" },
    { function() return lists.nothing end, "mr.Lists", "'nothing'" },
    { function() return lists:sum(lists) end, "mr.Tensor", "mr.Lists" },
    { function() return lists.sum(mr.ones(3), mr.ones(3)) end, "mr.Lists", "mr.Tensor" },
    { function() return mr.smooth.ap(mr.tensor{ 1, 0 / 0, 1 }, lists) end, "scores", "NaN", "2" },
  }
  it("are one line with the script's position", function()
    for _, case in ipairs(cases) do
      local message = raises(table.unpack(case))
      check(message:find("lists_spec.lua:%d+: "), message)
      check(not message:find "\n", message)
    end
  end)

  it("release tensors", function()
    local held = core.held_bytes()
    for _ = 1, 100 do pcall(mr.lists, { relevance = { 1, 0 }, sizes = { 3 } }) end
    collectgarbage()
    collectgarbage()
    check(core.held_bytes() <= held)
  end)
end)
