-- Tests that no argument is silently ignored: a public function rejects arguments that it does not read, and names
-- them.
local core = require "moonrank.core"
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, check, equal, near, raises = test.describe, test.it, test.check, test.equal, test.near, test.raises

local scores, lists = mr.tensor{ 3, 3, 1 }, mr.lists{ { 0, 1, 0 } }
local int64 = { dtype = "int64" }

-- Returns the public Lua functions of a table that take a fixed number of arguments.
local function fixed_functions(functions)
  local inner, found = require("moonrank.check").inner, {}
  for name, f in next, functions do
    local public = type(f) == "function" and type(name) == "string" and not name:match "^_"
    local info = public and debug.getinfo(inner(f), "Su")
    if info and info.what ~= "C" and not info.isvararg then found[name] = { call = f, most = info.nparams } end
  end
  return found
end

-- Calls each function with one argument more than it takes. The error must name this argument.
local function refuse_surplus(prefix, functions, of_self)
  local count = 0
  for name, each in pairs(fixed_functions(functions)) do
    local arguments = {}
    for i = 1, math.max(each.most, of_self and 1 or 0) + 1 do arguments[i] = "surplus" end
    local ok, message = pcall(each.call, table.unpack(arguments))
    local expected = ("argument %d is 'surplus'"):format(#arguments - (of_self and 1 or 0))
    check(not ok and tostring(message):find(expected, 1, true), ("%s%s: %s"):format(prefix, name, tostring(message)))
    count = count + 1
  end
  return count
end

describe("a surplus or ignored argument", function()
  it("is refused by every function of mr and its submodules", function()
    local count = 0
    for _, name in ipairs(mr.names()) do
      local value = mr[name]
      if type(value) == "table" then count = count + refuse_surplus("mr." .. name .. ".", value) end
    end
    local own = {}
    for _, name in ipairs(mr.names()) do own[name] = mr[name] end
    count = count + refuse_surplus("mr.", own)
    check(count > 150, tostring(count))
  end)

  it("is refused by every method", function()
    local count = 0
    for class, parts in pairs(core.classes) do count = count + refuse_surplus(class .. ":", parts.methods, true) end
    local fold = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }:binarize(4):folds{ k = 3 }[1]
    local evaluation, adam = mr.evaluate(scores, lists, { "rr" }), mr.optim.adam{ lr = 0.1 }
    local objects = { evaluation, evaluation:table(), fold, fold.train, fold:candidates(), adam, mr.losses.ap{},
      mr.models.linear{ inputs = 2 }, mr.compare{ a = evaluation, b = evaluation }, mr.plot.lines{ y = { 1, 2 } },
      mr.stats.summary(scores) }
    for _, object in ipairs(objects) do
      local class = getmetatable(object)
      count = count + refuse_surplus(class.__name or "an object:", class, true)
    end
    check(count > 80, tostring(count))
  end)

  it("is refused if a loss, metric or model is called", function()
    raises(function() mr.losses.ap{}(scores, lists, { bound = "minmax" }) end, "bound")
    raises(function() mr.metrics.rr{ k = 1 }(scores, lists, { k = 2 }) end, "argument 3")
    raises(function() mr.models.linear{ inputs = 2 }({}, 1) end, "argument 2")
  end)

  it("is refused with the right form, such as write(x:to_csv())", function()
    local evaluation = mr.evaluate(scores, lists, { "rr" })
    for _, object in ipairs{ evaluation, evaluation:table(), mr.stats.summary(scores) } do
      raises(function() object:to_csv "file" end, "write(x:to_csv())")
      raises(function() object:to_latex "file" end, "write(x:to_latex())")
    end
    raises(function() mr.ones(2):requires_grad(false) end, "x:detach()")
    for _, make in ipairs{ mr.zeros, mr.ones, mr.uniform, mr.normal } do
      raises(function() make({ 2, 2 }, {}, 7) end, "argument 3")
    end
    raises(function() mr.ones(4):reshape({ 2, 2 }, 7) end, "reshape")
    equal(mr.ones(2):requires_grad(nil).tracked, true, "nil is no argument")
  end)

  it("is refused if it is a nil between other arguments", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 3 }
    raises(function() queries:concat(nil, queries) end, "1", "nil")
    equal(queries:concat(queries, queries).count, 9)
  end)

  it("is refused if it is an option beside the elements of a list", function()
    raises(function() mr.evaluate(scores, lists, { "rr", ties = "worst" }) end, "'ties'")
    raises(function() mr.evaluate(scores, lists, { "rr", ties = "worst" }) end, 'mr.metrics.rr{ties = "worst"}')
    raises(function() mr.compare{ a = scores, b = -scores, qrels = lists, metrics = { "ndcg", k = 3 } } end, "'k'")
    raises(function() mr.tensor{ 1, 2, dtype = "int64" } end, "'dtype'")
    raises(function() mr.tensor{ { 1, 2 }, { 3, 4, dim = 2 } } end, "'dim'")
    raises(function() mr.zeros{ 2, 2, dtype = "int64" } end, "'dtype'")
    for _, join in ipairs{ mr.cat, mr.stack } do
      raises(function() join{ mr.ones(2, 2), mr.ones(2, 2), dim = 2 } end, "'dim'")
    end
    raises(function() mr.lists{ { 0, 1 }, ids = { 1 } } end, "'ids'")
    raises(function() mr.lists{ { 0, 1, id = 1 } } end, "'id'")
    raises(function() mr.table{ columns = { "a", "b", formats = {} }, rows = {} } end, "'formats'")
    raises(function() mr.table{ columns = { "a" }, rows = { { 1, a = 2 } } } end, "'a'")
    local x = mr.ones(2):requires_grad()
    raises(function() mr.clip_gradients{ norm = 1 }{ w = x } end, "'w'")
    local queries = mr.data.synthetic{ kind = "queries", queries = 9, features = 2 }
    raises(function()
      mr.fit{ model = mr.models.linear{ inputs = 2 }, loss = mr.losses.ap{}, train = queries, valid = queries,
        epochs = 1, metrics = { "ndcg", k = 3 }, progress = false }
    end, "'k'")
  end)

  it("is refused if another option makes it void", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 9, features = 2 }
    raises(function() queries:batches{ size = 2, seed = 3 } end, "seed", "shuffle = true")
    raises(function() queries:batches{ size = 2, epoch = 3 } end, "epoch", "shuffle = true")
    equal(queries:batches{ size = 2, seed = 3, shuffle = false }().size, 2)
  end)
end)

describe("impossible input", function()
  it("is refused by == of tensors, grad of a result, missing metrics and cdf of NaN", function()
    local x = mr.tensor{ 1, 2 }
    raises(function() return x == mr.tensor{ 1, 2 } end, "x:eq(y)")
    raises(function() return x ~= mr.tensor{ 1, 2 } end, "x:eq(y)")
    check(rawequal(x, x) and x ~= 1)
    local leaf = mr.tensor{ 1, 2 }:requires_grad()
    local result = leaf * 2
    result:sum():backward()
    raises(function() return result.grad end, "requires_grad()")
    equal(leaf.grad:totable(), { 2, 2 })
    equal(x.grad, nil)
    raises(function() return mr.evaluate(scores, lists, { "rr" }).mean.ap end, "'ap'")
    raises(function() return mr.stats.summary(scores).meen end, "'meen'", "'mean'")
    local distribution = mr.bounds.distribution("ap", { n = 9, p = 2 })
    for _, method in ipairs{ "cdf", "quantile", "smooth" } do
      raises(function() return distribution[method](distribution, 0 / 0) end, "NaN")
    end
  end)

  it("is refused by mr.tensor and mr.full if it is an integer from 2^53 on", function()
    for _, number in ipairs{ 2 ^ 53 + 1, (1 << 53) + 1, -(2 ^ 53) } do
      raises(function() mr.tensor({ number }, int64) end, "2^53")
      raises(function() mr.full({ 1 }, number, int64) end, "2^53")
    end
    equal(mr.tensor({ (1 << 53) - 1 }, int64):totable()[1], (1 << 53) - 1)
  end)

  it("of mr.full and mr.arange is refused with the argument, the number and the reason", function()
    local largest <const> = 1 << 53
    for _, case in ipairs{
      { { 2.5 }, "value", "2.5", "whole" }, { { largest + 1 }, "value", "9007199254740993", "2^53" },
      { { math.maxinteger }, "value", "9223372036854775807", "2^53" }, { { 1e300 }, "value", "1e+300", "2^53" },
      { { 0 / 0 }, "value", "NaN", "int64" }, { { 0.5, 3 }, "first", "0.5", "whole" },
      { { 1, 3, 0.5 }, "step", "0.5", "whole" }, { { largest + 1, largest + 3 }, "first", "9007199254740993", "2^53" },
      { { largest - 1, largest + 1 }, "last", "9007199254740993", "2^53" }, { { 0 / 0, 1 }, "first", "NaN", "finite" },
      { { 1, math.huge }, "last", "inf", "finite" }, { { 1, 3, 0 }, "step", "0" },
    } do
      local given = case[1]
      raises(function()
        if #given == 1 then return mr.full({ 1 }, given[1], int64) end
        return mr.arange(given[1], given[2], { step = given[3], dtype = "int64" })
      end, table.unpack(case, 2))
    end
    equal(mr.full({ 1 }, 3.0, int64):item(), 3)
    equal(mr.arange(1, 2.5, int64):totable(), { 1, 2 })
    equal(#mr.arange(3, -(1 << 60), int64), 0)
  end)

  it("of mr.tensor is refused with the number as it was given", function()
    for number, text in pairs{ [(1 << 53) + 1] = "9007199254740993", [1e300] = "1e+300", [0.1] = "0.1" } do
      raises(function() mr.tensor({ 1, number }, int64) end, "values", text)
    end
    for _, number in ipairs{ 0 / 0, -(0 / 0) } do
      raises(function() mr.tensor({ number }, int64) end, "values", "NaN")
    end
    equal(mr.tensor({ 1 << 53, -(1 << 53) }, int64):totable(), { 1 << 53, -(1 << 53) })
  end)

  it("is printed as nan without a sign if it is NaN", function()
    local of_results = (mr.tensor{ math.huge } - mr.tensor{ math.huge }):item()
    for _, number in ipairs{ 0 / 0, -(0 / 0), of_results, mr.tensor({ 0 / 0 }, { dtype = "float64" }):totable()[1] } do
      equal({ tostring(number), ("%g %5.1f %s"):format(number, number, number) }, { "nan", "nan   nan nan" })
      check(not tostring(mr.tensor{ number }):find("-nan", 1, true))
      local one = mr.table{ columns = { "a" }, rows = { { number } } }
      equal({ tostring(one), one:to_csv() }, { "  a\n---\nnan", "a\nnan\n" })
    end
    local empty = mr.evaluate(scores, mr.lists{ { 0, 0, 0 } }, { "rr" }, { empty = "nan" })
    check(tostring(empty):find("rr%s+nan") and empty:to_latex():find("rr & nan", 1, true), tostring(empty))
    local path = files.new_path()
    assert(io.open(path, "w")):write(0 / 0, " ", 1.5):close()
    equal(files.read(path), "nan 1.5")
  end)
end)

it("mr.metrics.dcg with gain exp2_plus_one counts rows of grade 0 if no row is relevant", function()
  local options = { gain = "exp2_plus_one" }
  local of_three = 1 + 1 / math.log(3, 2) + 1 / 2
  local x, no_relevant = mr.tensor{ 3, 2, 1 }, mr.lists{ { 0, 0, 0 } }
  near(mr.metrics.dcg(x, no_relevant, options):item(), of_three, 1e-6)
  near(mr.metrics.dcg(x, no_relevant, { gain = "exp2_plus_one", k = 1 }):item(), 1, 1e-6)
  equal(mr.metrics.dcg(x, no_relevant, { gain = "exp2_plus_one", empty = "zero" }):item(), 0.0)
  equal(mr.metrics.dcg(x, no_relevant):item(), 0.0)
  local evaluation = mr.evaluate(x, no_relevant, { "dcg" }, options)
  equal({ evaluation.skipped.dcg, evaluation.counted.dcg }, { 1, 0 })
end)

it("methods of mr.results refuse options in place of a name, and show what belongs there", function()
  local path = files.new_path()
  mr.sweep{ name = "s", store = path, workers = 0, progress = false, direction = "minimize",
    space = { x = mr.range(1, 2) }, run = function(trial) return { error = trial.x } end }
  local study = mr.results(path, "s")
  raises(function() study:best{ value = "error" } end, "'value'")
  raises(function() study:sign{} end, "results:sign(")
  raises(function() study:trials{ columns = { "x", states = {} } } end, "'states'")
  equal(study:best(nil, { value = "error" }).params.x, 1)
end)
