-- Tests models that scripts define: they must give the same bits as equal built-in models. Also tests files, buffers,
-- and errors before training.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function index(t) return mr.tensor(t, { dtype = "int64" }) end

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 60, mean_activity = 20, seed = 3 }:binarize(4)
local fold = ratings:folds{ k = 2, seed = 1, nsr = 1 }[1]
local queries = mr.data.synthetic{ kind = "queries", queries = 30, features = 4, seed = 2 }

local function trained(model, data, epochs)
  mr.fit{ model = model, loss = mr.losses.ndcg{ bound = "minmax" }, train = data, epochs = epochs or 2, batch = 8,
    progress = false }
  return model
end

local function same(a, b)
  for i, p in ipairs(a:parameters()) do equal(b:parameters()[i]:totable(), p:totable()) end
end

local function two_towers(o)
  local function tower() return mr.normal({ o.width, o.width }, { sd = 0.3, dtype = o.dtype }) end
  return {
    user = mr.normal({ o.users, o.width }, { sd = 0.3, dtype = o.dtype }),
    item = mr.normal({ o.items, o.width }, { sd = 0.3, dtype = o.dtype }),
    left = tower(), right = tower(),
  }
end

local definition = {
  required = { users = "integer", items = "integer" }, options = { width = 4 }, parameters = two_towers,
  forward = function(self, batch)
    local users, items = self.user:matmul(self.left):tanh(), self.item:matmul(self.right):tanh()
    return batch.lists:factor_scores(users, items, batch.users, batch.items)
  end,
}

describe("a model from mr.models.define", function()
  it("trains to the same bits as the equal built-in mf model", function()
    mr.models.define("own_mf", {
      required = { users = "integer", items = "integer" }, options = { factors = 32, init = 0.01 },
      parameters = function(o)
        local function matrix(name, rows)
          return mr.uniform({ rows, o.factors },
            { low = -o.init, high = o.init, seed = o.seed, stream = "mf " .. name, dtype = o.dtype })
        end
        return { users = matrix("users", o.users), items = matrix("items", o.items) }, { "users", "items" }
      end,
      forward = function(self, batch)
        return batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
      end,
    })
    local options = { users = ratings.users, items = ratings.items, factors = 8, seed = 5 }
    same(trained(mr.models.mf(options), fold.train), trained(mr.models.own_mf(options), fold.train))
  end)

  it("trains to the same bits as the built-in self_attention model", function()
    local built_in = require "moonrank.models.self_attention"
    mr.models.define("own_attention", {
      required = { inputs = "integer" }, options = { width = 64, heads = 2, blocks = 2, inner = 16, dropout = 0 },
      check = built_in.check, parameters = built_in.parameters, forward = built_in.forward,
    })
    local options = { inputs = 4, width = 8, heads = 2, blocks = 1, dropout = 0.2, seed = 5 }
    same(trained(mr.models.self_attention(options), queries), trained(mr.models.own_attention(options), queries))
  end)

  it("starts from its seed only and gives different values to its tensors", function()
    mr.models.define("towers", definition)
    local function make(seed) return mr.models.towers{ users = 3, items = 5, seed = seed } end
    local one = make(1)
    mr.normal{ 5 }
    same(one, make(1))
    check((one:parameters()[1]:narrow(1, 1, 3) - make(2):parameters()[1]:narrow(1, 1, 3)):abs():max():item() > 1e-3)
    local left, right = one:parameters()[2], one:parameters()[3]
    check((left - right):abs():max():item() > 1e-3)
  end)

  it("prints its tensors and their sizes", function()
    equal(tostring(mr.models.define("towers", definition){ users = 3, items = 5 }), table.concat({
      'towers{dtype = float32, items = 5, seed = 1, users = 3, width = 4}, 64 parameters',
      "  item   {5, 4}  20", "  left   {4, 4}  16", "  right  {4, 4}  16", "  user   {3, 4}  12" }, "\n"))
  end)

  it("has gradients for all parameters, and gradcheck names one without", function()
    local batch = { lists = mr.lists{ { 1, 0, 0 }, { 0, 1 } }, users = index{ 2, 1 }, items = index{ 1, 4, 2, 5, 1 } }
    local make = mr.models.define("towers", definition)
    check(make{ users = 3, items = 5, dtype = "float64" }:gradcheck(batch) < 1e-6)
    check(make{ users = 3, items = 5 }:double():gradcheck(batch) < 1e-6)
    raises(function() make{ users = 3, items = 5 }:gradcheck(batch) end,
      "'item'", "float32", "float64", "model:double()")
    local cut = mr.models.define("cut", {
      required = definition.required, options = definition.options, parameters = two_towers,
      forward = function(self, b)
        local users, items = self.user:matmul(self.left:detach()), self.item:matmul(self.right)
        return b.lists:factor_scores(users, items, b.users, b.items)
      end,
    })
    raises(function() cut{ users = 3, items = 5, dtype = "float64" }:gradcheck(batch) end, "'left'", "1", "0")
  end)

  it("loads from a file if it is defined, and trains on to the same bits", function()
    local make = mr.models.define("towers", definition)
    local model, path = trained(make{ users = ratings.users, items = ratings.items, width = 3 }, fold.train),
      files.new_path()
    model:save(path)
    local again = mr.models.load(path)
    equal({ again.kind, again.config }, { "towers", model.config })
    same(model, again)
    same(trained(model, fold.train), trained(again, fold.train))
    local program = dofile("tests/support/program.lua").moonrank
    if not program then return test.skip "MOONRANK does not name the program" end
    make{ users = 3, items = 5 }:save(path)
    local said = files.output(("%s -e 'require(\"moonrank\").models.load(\"%s\")' 2>&1"):format(program, path))
    check(said:find("'towers'", 1, true) and said:find("popularity", 1, true), said)
  end)

  it("rejects files with wrong options and allocates no more than the file holds", function()
    local make = mr.models.define("towers", definition)
    local path = files.new_path()
    local names, values = make{ users = 3, items = 5 }:state()
    local function file(key, text)
      local keys = { "kind", "users", "items", "width", "seed", "dtype" }
      local texts = { "towers", "3", "5", "4", "1", "float32" }
      for i, each in ipairs(keys) do if each == key then texts[i] = text end end
      core.save_tensors(path, "moonrank model 1", names, values, keys, texts)
    end
    local held = core.held_bytes()
    for _, case in ipairs{
      { "users", "300000000000", "mr.normal", "{300000000000, 4}", "file" },
      { "width", "4000000", "mr.normal", "file", "{3, 4000000}" },
      { "width", "5", "'item'", "{5, 4}", "float32" },
      { "users", "os.exit(3)", "users", "'os.exit(3)'" },
      { "width", "x", "width", "'x'" }, { "seed", "x", "seed", "'x'" },
      { "dtype", "int64", "mr.models.towers", "dtype", "'int64'" },
    } do
      file(case[1], case[2])
      raises(function() mr.models.load(path) end, table.unpack(case, 3))
    end
    collectgarbage()
    collectgarbage()
    check(core.held_bytes() <= held, "nothing stays of them")
  end)
end)

describe("buffers of mr.models.define", function()
  local make = mr.models.define("centred", {
    required = { inputs = "integer" },
    parameters = function(o) return { weight = mr.normal({ o.inputs, 1 }, { dtype = o.dtype }) } end,
    buffers = function(o)
      return { mean = mr.zeros(o.inputs, { dtype = o.dtype }), steps = mr.zeros(1, { dtype = "int64" }) }
    end,
    forward = function(self, batch)
      if batch.training then
        self.mean = self.mean * 0.9 + batch.features:mean(1) * 0.1
        self.steps = mr.tensor({ self.steps:totable()[1] + 1 }, { dtype = "int64" })
      end
      return (batch.features - self.mean):matmul(self.weight):reshape(#batch.features)
    end,
  })

  it("change in training only and are part of snapshots and files", function()
    local model = make{ inputs = 4 }
    local before = model:snapshot()
    trained(model, queries, 1)
    local function kept(of)
      local names, values = of:state()
      equal(names, { "weight", "mean", "steps" })
      return values[2]:totable(), values[3]:totable()[1]
    end
    local mean, steps = kept(model)
    equal(steps, 4)
    -- the expected running mean, computed from the batches in the order of mr.fit
    local expected = mr.zeros(4)
    for batch in queries:batches{ size = 8, shuffle = true, seed = 1, epoch = 1 } do
      expected = expected * 0.9 + batch.features:mean(1) * 0.1
    end
    near(mr.tensor(mean), expected:totable(), 1e-6)
    mr.evaluate(model{ lists = queries.lists, features = queries.features:to(mr.device()) }, queries.lists, { "ndcg" })
    equal({ kept(model) }, { mean, steps })
    local path = files.new_path()
    model:save(path)
    equal({ kept(mr.models.load(path)) }, { mean, steps })
    model:restore(before)
    equal({ kept(model) }, { { 0, 0, 0, 0 }, 0 })
  end)

  it("keep shape and dtype, and forward can assign nothing else", function()
    local function forward_of(body)
      local model = mr.models.define("wrong", {
        parameters = function() return { w = mr.zeros(3) } end, buffers = function() return { b = mr.zeros(2) } end,
        forward = function(self, batch)
          body(self)
          return self.w:rows(batch.items)
        end,
      }){}
      return function() model{ lists = mr.lists{ { 1, 0 } }, items = index{ 1, 3 } } end
    end
    raises(forward_of(function(self) self.b = mr.zeros(3) end), "'b'", "{3}", "float32", "{2}")
    raises(forward_of(function(self) self.b = 1 end), "'b'", "{2}", "float32")
    raises(forward_of(function(self) self.w = mr.zeros(3) end), "'w'", "buffer")
    raises(forward_of(function(self) return self.weight end), "'wrong'", "'weight'")
  end)
end)

describe("mr.models.define raises an error", function()
  local function parameters() return { w = mr.zeros(3) } end
  local function forward(self, batch) return self.w:rows(batch.items) end

  it("if the name or the definition is invalid", function()
    for _, case in ipairs{
      { "two words", { parameters = parameters, forward = forward }, "name", "two words" },
      { "mf", { parameters = parameters, forward = forward }, "mr.models.define", "mr.models.mf" },
      { "load", { parameters = parameters, forward = forward }, "mr.models.define", "mr.models.load" },
      { "x", { forward = forward }, "mr.models.define", "parameters" },
      { "x", { parameters = parameters }, "mr.models.define", "forward" },
      { "x", { parameters = parameters, forwards = forward }, "'forwards'", "'forward'" },
      { "x", { parameters = parameters, forward = forward, required = { n = "int" } }, "mr.models.define",
        "required.n", "'int'" },
      { "x", { parameters = parameters, forward = forward, built_in = true }, "mr.models.define", "'built_in'" },
      { "x", { parameters = parameters, forward = forward, buffers = function() return {} end,
        repeats = true }, "mr.models.define", "repeats", "buffers" },
      { "x", { parameters = parameters, forward = forward, buffers = {} }, "buffers", "table" },
    } do
      raises(function() mr.models.define(case[1], case[2]) end, table.unpack(case, 3))
    end
  end)

  it("for an undeclared option and shows how to declare it", function()
    mr.models.define("bare", { parameters = parameters, forward = forward })
    raises(function() mr.models.bare{ factors = 4 } end, "factors", "mr.models.define", "required")
    mr.models.define("one", { parameters = parameters, forward = forward, options = { width = 2 } })
    raises(function() mr.models.one{ factors = 4 } end, "mr.models.one", "'factors'")
  end)

  it("if parameters returns invalid tensors when a model is made", function()
    local function made(wrong, options) return function() mr.models.define("x", {
      required = { n = "integer" }, parameters = wrong, forward = forward }){ n = options } end end
    raises(made(parameters), "mr.models.x", "n")
    raises(made(parameters, 0), "mr.models.x", "n", "0")
    for _, case in ipairs{
      { nil, "nil", "parameters" }, { {}, "parameters", "tensor" },
      { { w = 3 }, "tensors.w", "3" }, { { mr.zeros(3) }, "name", "1" },
      { { w = mr.zeros(3, { dtype = "int64" }) }, "'w'", "int64" },
      { { a = mr.zeros(3), b = mr.zeros(3, { dtype = "float64" }) }, "'b'", "float64" },
    } do
      raises(made(function() return case[1] end, 1), table.unpack(case, 2))
    end
    local tied = mr.zeros(2)
    raises(made(function() return { a = tied, b = tied } end, 1), "'a'", "'b'")
    raises(made(function() return { a = mr.zeros(1), b = mr.zeros(1) }, { "a" } end, 1), "mr.models.x", "'b'")
    raises(made(function() return { a = mr.zeros(1) }, { "a", "a" } end, 1), "order", "'a'")
    raises(function()
      local function buffers() return { w = mr.zeros(1) } end
      mr.models.define("x", { parameters = parameters, buffers = buffers, forward = forward }){}
    end, "'w'", "parameter", "buffer")
  end)

  it("for options that a file cannot hold", function()
    local function with(value)
      return function()
        mr.models.define("x", { options = { o = value }, parameters = parameters, forward = forward }){}
      end
    end
    for _, case in ipairs{ { 1 / 0, "o", "inf" }, { 0 / 0, "o", "option" }, { "\xff", "o", "option" },
      { print, "o", "function" }, { { 1, { 2 } }, "o", "table" }, { { 0.5 }, "o", "table" } } do
      raises(with(case[1]), table.unpack(case, 2))
    end
    local make = mr.models.define("x", { options = { h = { 1, 2 } }, forward = forward, parameters = function(o)
      o.h[1] = o.h[1] + 1
      return parameters()
    end })
    equal({ make{}.config.h, make{}.config.h }, { { 2, 2 }, { 2, 2 } })
  end)

  it("if forward returns invalid scores for the first batch", function()
    local batch = { lists = mr.lists{ { 1, 0 } }, items = index{ 1, 3 }, training = true }
    local function scored(body)
      return function() mr.models.define("x", { parameters = parameters, forward = body }){}(batch) end
    end
    raises(scored(function() end), "nil", "model", "forward")
    raises(scored(function(self) return self.w end), "{3}", "{2}", "forward", "score")
    raises(scored(function(self, b) return self.w:rows(b.items):reshape(2, 1) end), "scores:reshape(2)", "row")
    raises(scored(function(self, b) return self.w:rows(b.items):double() end), "float64", "float32")
    raises(scored(function() return mr.zeros(2) end), "parameters")
  end)
end)

it("mr.models.define with option dtype raises an error if parameters or buffers ignore dtype", function()
  local function forward(self, batch) return batch.features:matmul(self.w):reshape(batch.lists.rows) end
  local make = mr.models.define("ignores_dtype", { required = { inputs = "integer" }, forward = forward,
    parameters = function(o) return { w = mr.zeros(o.inputs, 1) } end })
  equal(make{ inputs = 2 }:parameters()[1].dtype, "float32")
  raises(function() make{ inputs = 2, dtype = "float64" } end, "'w'", "float32")
  raises(function() make{ inputs = 2, dtype = "float64" } end, "dtype", "float64")
  local buffered = mr.models.define("ignores_dtype_of_buffers", {
    required = { inputs = "integer" }, forward = forward,
    parameters = function(o) return { w = mr.zeros({ o.inputs, 1 }, { dtype = o.dtype }) } end,
    buffers = function() return { count = mr.zeros(1, { dtype = "int64" }), mean = mr.zeros(1) } end,
  })
  raises(function() buffered{ inputs = 2, dtype = "float64" } end, "'mean'", "float32")
end)

it("mr.fit with an unused parameter warns about it once, after the first backward pass", function()
  local check_module = require "moonrank.check"
  local make = mr.models.define("has_unused", { required = { inputs = "integer" }, parameters = function(o)
      return { w = mr.ones({ o.inputs, 1 }, { dtype = o.dtype }), forgotten = mr.zeros({ 3 }, { dtype = o.dtype }) }
    end,
    forward = function(self, batch) return batch.features:matmul(self.w):reshape(batch.lists.rows) end })
  local warn, found = check_module.warn, {}
  check_module.warn = function(text) found[#found + 1] = text end
  local lists = mr.lists{ { 0, 1 }, { 1, 0 }, { 0, 1 } }
  local data = mr.data.dataset{ lists = lists, features = mr.normal({ 6, 2 }, { seed = 1 }) }
  local function fit(model)
    return pcall(mr.fit, { model = model, loss = mr.losses.ranknet{}, train = data, batch = 1, epochs = 2,
      progress = false })
  end
  local ok, message = fit(make{ inputs = 2 })
  local ok_all, message_all = fit(mr.models.mlp{ inputs = 2, hidden = { 2 } })
  check_module.warn = warn
  check(ok, message)
  check(ok_all, message_all)
  equal(#found, 1)
  check(found[1]:find("'forgotten'", 1, true) and found[1]:find("has_unused", 1, true), found[1])
end)

describe("random numbers without a seed", function()
  it("differ between calls and repeat after mr.seed", function()
    mr.seed(7)
    local a, b = mr.normal({ 4 }):totable(), mr.normal({ 4 }):totable()
    local d = mr.ones(64):dropout(0.5):totable()
    check(a[1] ~= b[1])
    mr.seed(7)
    equal({ mr.normal({ 4 }):totable(), mr.normal({ 4 }):totable(), mr.ones(64):dropout(0.5):totable() }, { a, b, d })
    mr.seed(8)
    check(mr.normal({ 4 }):totable()[1] ~= a[1])
    raises(function() mr.seed(0.5) end, "mr.seed", "n", "0.5")
    mr.seed(1)
  end)

  it("depend on the seed of mr.fit and the step in training", function()
    local make = mr.models.define("dropping", {
      required = { inputs = "integer" },
      parameters = function(o) return { w = mr.normal({ o.inputs, 1 }) } end,
      forward = function(self, batch)
        local x = batch.training and batch.features:dropout(0.5) or batch.features
        return x:matmul(self.w):reshape(#x)
      end,
    })
    local first = trained(make{ inputs = 4 }, queries)
    mr.normal{ 3 }
    same(first, trained(make{ inputs = 4 }, queries))
  end)

  it("depend on the seed of the trial in a sweep", function()
    local function drawn()
      local path, values = files.new_path(), {}
      mr.sweep{ name = "draws", store = path, space = { x = mr.range(1, 4) }, workers = 0, progress = false,
        metric = "value", direction = "maximize", run = function(trial)
          values[trial.number] = mr.uniform({ 1 }):item()
          return { value = values[trial.number] }
        end }
      return values
    end
    local once = drawn()
    mr.uniform{ 3 }
    equal(drawn(), once)
    check(once[1] ~= once[2])
  end)
end)
