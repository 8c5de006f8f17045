-- Tests models: their scores against loops, their derivatives, and intact and damaged files.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function index(t) return mr.tensor(t, { dtype = "int64" }) end

local lists = mr.lists{ { 1, 0, 0 }, {}, { 1 }, { 0, 1 } }
local batch = { lists = lists, users = index{ 2, 1, 2, 3 }, items = index{ 1, 4, 2, 5, 1, 5 },
  features = mr.normal({ 6, 3 }, { seed = 1, dtype = "float64" }) }

local read, write = files.read, files.write

describe("mr.models.mf", function()
  it("scores the product of the factors of user and item", function()
    local model = mr.models.mf{ users = 3, items = 5, factors = 33, dtype = "float64" }
    local users, items = model:parameters()[1]:totable(), model:parameters()[2]:totable()
    local expected, row, of, what = {}, 0, batch.users:totable(), batch.items:totable()
    for l, n in ipairs(lists.sizes:totable()) do
      for _ = 1, n do
        row = row + 1
        local s = 0
        for c = 1, 33 do s = s + users[of[l]][c] * items[what[row]][c] end
        expected[row] = s
      end
    end
    near(model(batch), expected, 1e-15)
  end)

  it("has right derivatives for users and items", function()
    local users = mr.normal({ 3, 4 }, { seed = 1, dtype = "float64" })
    local items = mr.normal({ 5, 4 }, { seed = 2, dtype = "float64" })
    local function scores(u, i) return core.factor_scores(u, i, batch.users, batch.items, lists) end
    check(mr.gradcheck(function(t) return scores(t, items) end, users) < 1e-8)
    check(mr.gradcheck(function(t) return scores(users, t) end, items) < 1e-8)
  end)

  it("scores cosines of users and items", function()
    local options = { users = 3, items = 5, factors = 4, init = 0.5, dtype = "float64" }
    local dots = mr.models.mf(options)
    options.score = "cosine"
    local model = mr.models.mf(options)
    local function norms(x) return x:detach():row_dot(x:detach()):sqrt() end
    local users, items = table.unpack(dots:parameters())
    near(model(batch), dots(batch) / lists:spread(norms(users):rows(batch.users)) / norms(items):rows(batch.items),
      1e-14)
    check(model:gradcheck(batch) < 1e-7)
    raises(function() mr.models.mf{ users = 1, items = 1, score = "cosinus" } end, "score", "cosinus")
    -- vectors of zeros have the cosine 0 and a finite gradient
    local zeros = mr.models.mf{ users = 3, items = 5, factors = 4, score = "cosine" }
    core.restore(zeros:parameters()[1], mr.zeros(3, 4))
    local scores = zeros(batch)
    equal(scores:abs():max():item(), 0.0)
    scores:sum():backward()
    check(zeros:parameters()[1].grad:abs():max():item() < 10)
    local path = files.new_path()
    model:save(path)
    near(mr.models.load(path)(batch), model(batch), 0)
  end)

  it("ranks the whole catalogue by cosines", function()
    local ratings = mr.data.synthetic{ kind = "ratings", users = 12, items = 40, seed = 3 }
    local fold = ratings:binarize(4):folds{ k = 3, seed = 1 }[1]
    local model = mr.models.mf{ users = 12, items = 40, factors = 3, init = 0.5, score = "cosine" }
    local items, scores = model:recommend{ k = 40 }:of(7)
    local all = model{ lists = mr.lists{ mr.zeros(40):totable() }, users = index{ 7 },
      items = mr.arange(1, 40):to "int64" }
    near(scores, all:rows(index(items)), 1e-6)
    check(fold:evaluate(model, { "ndcg@10" }).mean["ndcg@10"] >= 0)
  end)

  it("adds up derivatives of repeated items, also with far more items than rows", function()
    for _, count in ipairs{ 5, 2000 } do
      local users = mr.normal({ 3, 4 }, { seed = 1, dtype = "float64" })
      local items = mr.normal({ count, 4 }, { seed = 2, dtype = "float64" })
      local leaf, weights = items:requires_grad(), mr.tensor({ 1, 2, 4, 8, 16, 32 }, { dtype = "float64" })
      local what = index{ 5, 4, 5, count, 1, 4 };
      (core.factor_scores(users, leaf, batch.users, what, lists) * weights):sum():backward()
      local p, expected = users:totable(), mr.zeros(count, 4, { dtype = "float64" }):totable()
      for row, user in ipairs{ 2, 2, 2, 2, 3, 3 } do
        for c = 1, 4 do
          expected[what:totable()[row]][c] = expected[what:totable()[row]][c] + weights[row]:item() * p[user][c]
        end
      end
      near(leaf.grad, mr.tensor(expected, { dtype = "float64" }), 1e-13)
    end
  end)

  it("starts with values within init, the same for the same seed", function()
    local function make(seed) return mr.models.mf{ users = 300, items = 200, factors = 8, init = 0.25, seed = seed } end
    for i, p in ipairs(make(1):parameters()) do
      check(p:abs():max():item() <= 0.25 and p:abs():max():item() > 0.24)
      near(p:mean():item(), 0, { atol = 0.02 })
      equal(p:totable(), make(1):parameters()[i]:totable())
      check(p:totable()[1][1] ~= make(2):parameters()[i]:totable()[1][1])
    end
  end)

  it("refuses users and items beyond its sizes, and batches of other sizes", function()
    local model = mr.models.mf{ users = 2, items = 5 }
    raises(function() return model(batch) end, "user_of", "3", "4", "1", "2")
    model = mr.models.mf{ users = 3, items = 4 }
    raises(function() return model(batch) end, "item_of", "5", "4", "1")
    raises(function() return model{ lists = lists, users = index{ 1 }, items = batch.items } end,
      "1", "4", "users", "lists")
    raises(function() return model{ lists = lists, users = batch.users, items = index{ 1 } } end,
      "1", "6", "items", "rows")
    raises(function() return mr.models.mf{ items = 3 } end, "mr.models.mf", "users")
  end)
end)

describe("mr.models.self_attention", function()
  local options = { inputs = 3, width = 8, heads = 2, blocks = 2, inner = 12, dtype = "float64" }
  local model = mr.models.self_attention(options)

  it("scores a row the same at any place in its list and in any batch", function()
    local scores = model(batch):totable()
    -- reverses the rows of the first list and leaves out the other lists: scores move with their rows
    local features = batch.features:rows(index{ 3, 2, 1 })
    near(model{ lists = mr.lists{ { 0, 0, 1 } }, features = features }, { scores[3], scores[2], scores[1] }, 1e-12)
    -- the score of a row depends on the other rows of its list
    local alone = model{ lists = mr.lists{ { 1 } }, features = batch.features:rows(index{ 1 }) }:item()
    check(math.abs(alone - scores[1]) > 1e-6)
  end)

  it("has right derivatives for all parameters", function()
    local small = mr.models.self_attention{ inputs = 3, width = 4, heads = 2, blocks = 1, inner = 5, dtype = "float64" }
    check(small:gradcheck(batch) < 1e-6)
  end)

  it("drops entries in training batches only, others in each step", function()
    local dropping = mr.models.self_attention{ inputs = 3, width = 8, heads = 2, dropout = 0.5, dtype = "float64" }
    local function at(step) return dropping{ lists = lists, features = batch.features, step = step } end
    local function distance(a, b) return (a - b):abs():sum():item() end
    equal(distance(at(nil), at(nil)), 0.0)
    equal(distance(at(3), at(3)), 0.0)
    check(distance(at(3), at(4)) > 1e-3)
    check(distance(at(3), at(nil)) > 1e-3)
  end)

  it("scores the same after saving and loading", function()
    local path = files.new_path()
    model:save(path)
    near(mr.models.load(path)(batch), model(batch):totable(), 0)
  end)

  it("refuses a width that heads does not divide", function()
    raises(function() mr.models.self_attention{ inputs = 3, width = 8, heads = 3 } end, "heads", "3", "8")
  end)
end)

describe("mr.models.mlp and mr.models.linear", function()
  it("score what a loop over the layers gives, with every activation", function()
    local functions = {
      relu = function(v) return math.max(v, 0) end,
      tanh = function(v) return 1 - 2 / (math.exp(2 * v) + 1) end,
      sigmoid = function(v) return 1 / (1 + math.exp(-v)) end,
      softplus = function(v) return math.log(1 + math.exp(v)) end,
    }
    for name, f in pairs(functions) do
      local model = mr.models.mlp{ inputs = 3, hidden = { 4, 2 }, activation = name, dtype = "float64" }
      local p, expected = model:parameters(), {}
      for r, x in ipairs(batch.features:totable()) do
        for layer = 1, 3 do
          local w, b, y = p[2 * layer - 1]:totable(), p[2 * layer]:totable()[1], {}
          for j = 1, #b do
            y[j] = b[j]
            for i = 1, #x do y[j] = y[j] + x[i] * w[i][j] end
            if layer < 3 then y[j] = f(y[j]) end
          end
          x = y
        end
        expected[r] = x[1]
      end
      near(model(batch), expected, 1e-12)
      equal(model:size(), 3 * 4 + 4 + 4 * 2 + 2 + 2 + 1)
      model(batch):sum():backward()
      for i, parameter in ipairs(p) do check(parameter.grad ~= nil, ("parameter %d"):format(i)) end
    end
  end)

  it("print the name of the constructor and its options", function()
    local linear = tostring(mr.models.linear{ inputs = 3, seed = 4 }):match "^[^\n]*"
    equal(linear:match "^%w+", "linear")
    check(linear:find "inputs = 3" and linear:find "seed = 4" and not linear:find "hidden", linear)
    equal(tostring(mr.models.mlp{ inputs = 3, hidden = { 2 } }):match "^%w+", "mlp")
  end)
  it("score a linear function without hidden layers", function()
    local model = mr.models.linear{ inputs = 3, dtype = "float64" }
    local w, b = model:parameters()[1], model:parameters()[2]
    near(model(batch), (batch.features:matmul(w) + b):reshape(6), 1e-15)
  end)

  it("refuse layers of wrong sizes, and features of another type", function()
    raises(function() return mr.models.mlp{ inputs = 3, hidden = { 4, 0 } } end, "hidden", "2", "0")
    raises(function() return mr.models.mlp{ inputs = 3, hidden = { "4" } } end, "hidden", "1", "4")
    raises(function() return mr.models.linear{ inputs = 2, dtype = "float64" }(batch) end, "{6, 3}", "{2, 1}")
  end)
end)

it("model:snapshot holds parameters that model:restore brings back after training", function()
  local model = mr.models.mf{ users = 3, items = 5, factors = 2 }
  local before, snapshot = model:parameters()[1]:totable(), model:snapshot()
  model(batch):sum():backward()
  mr.optim.sgd{ lr = 100 }:bind(model:parameters()):step()
  check(model:parameters()[1]:totable()[2][1] ~= before[2][1])
  model:restore(snapshot)
  equal(model:parameters()[1]:totable(), before)
end)

it("model:put copies tensors, and refuses those of other shapes or types", function()
  local model = mr.models.linear{ inputs = 3 }
  local optimizer = mr.optim.sgd{ lr = 1 }:bind(model:parameters())
  local weight, bias = mr.ones(3, 1), mr.zeros(1, 1)
  local function put(w, b) return model:put{ ["layer1.weight"] = w, ["layer1.bias"] = b } end
  put(weight, bias)
  equal(model:parameters()[1]:totable(), weight:totable())
  model({ lists = mr.lists{ { 1, 0 } }, features = mr.ones(2, 3) }):sum():backward()
  optimizer:step()
  equal(weight:totable(), mr.ones(3, 1):totable(), "the given tensor does not change in training")
  equal(model:parameters()[1]:totable(), { { -1.0 }, { -1.0 }, { -1.0 } }, "the optimizer still trains the model")
  raises(function() put(mr.ones(5, 1), bias) end, "model:put", "layer1.weight", "{5, 1}", "{3, 1}")
  raises(function() put(weight, bias:double()) end, "model:put", "layer1.bias", "float64", "float32")
  equal(model:parameters()[1]:totable(), { { -1.0 }, { -1.0 }, { -1.0 } }, "after an error")
end)

describe("a model file", function()
  local models = {
    mr.models.mf{ users = 3, items = 5, factors = 4, init = 0.5, seed = 9 },
    mr.models.mf{ users = 3, items = 5, factors = 1, dtype = "float64" },
    mr.models.mlp{ inputs = 3, hidden = { 4, 2 }, activation = "tanh", seed = 3, dtype = "float64" },
    mr.models.linear{ inputs = 3, dtype = "float64" },
  }

  it("is loaded to the same bits, and the loaded model can be trained", function()
    for _, model in ipairs(models) do
      local path = files.new_path()
      model:save(path)
      local again = mr.models.load(path)
      equal({ again.kind, again.config }, { model.kind, model.config })
      equal(tostring(again), tostring(model))
      for i, p in ipairs(model:parameters()) do equal(again:parameters()[i]:totable(), p:totable()) end
      equal(again(batch):totable(), model(batch):totable())
      again(batch):sum():backward()
      check(again:parameters()[1].grad)
    end
  end)

  -- Returns the bytes of a file with this header and these data.
  local function file_of(header, bytes) return string.pack("<I8", #header) .. header .. bytes end

  it("is refused with its path if it is damaged or cut anywhere", function()
    local path = files.new_path()
    models[1]:save(path)
    local whole = read(path)
    local header = whole:sub(9, 8 + string.unpack("<I8", whole))
    local data = whole:sub(9 + #header)
    local function changed(from, to)
      local text, n = header:gsub('"checksum [^,]*,', ""):gsub(from, to)
      check(n > 0, "the header has " .. from)
      return file_of(text, data)
    end
    local damaged = {
      { whole:sub(1, 30), "safetensors" }, { file_of("{}", ""), "model", "kind", "nil" },
      { changed('"mf"', '"gp"'),
        "'gp'", "biased_mf, cml, cnn, direct_ranker, item_knn, item_mean, mf",
        "popularity, pure_svd, random, self_attention" },
      { changed('"items":{', '"other":{'), "'items'", "tensor", "file" },
      { changed("%[3,4%]", "[4,3]"), "'users'", "{4, 3}", "float32" },
      { changed('"users":"3"', '"users":"300000000000"'), "mr.uniform", "{300000000000, 4}", "file" },
      { changed('"users":"3"', '"users":"x"'), "mr.models.mf", "users", "'x'" },
      { changed('"users":"3"', '"userz":"3"'), "mr.models.mf", "'userz'", "'users'" },
      { changed('"dtype":"float32"', '"dtype":"float64"'), "{3, 4}", "float64" },
    }
    local held = core.held_bytes()
    for _, case in ipairs(damaged) do
      write(path, case[1])
      raises(function() mr.models.load(path) end, path, table.unpack(case, 2))
    end
    collectgarbage()
    collectgarbage()
    check(core.held_bytes() <= held, "damaged files leave no tensors behind")
    -- a file that is cut off anywhere is rejected, and does not crash the program
    for cut = 0, #whole - 1 do
      write(path, whole:sub(1, cut))
      check(not pcall(mr.models.load, path), ("the first %d bytes"):format(cut))
    end
  end)

  it("is refused if it is missing or cannot be written, and nothing is left behind", function()
    local path = "/nowhere/model.safetensors"
    raises(function() mr.models.load(path) end, path, "No such file")
    raises(function() models[1]:save "/dev/null/model.safetensors" end, "/dev/null")
    local below = files.new_path()
    models[1]:save(below .. "/made.safetensors")
    equal(mr.models.load(below .. "/made.safetensors").kind, models[1].kind)
    local folder = files.new_folder()
    core.make_folder(folder .. "/inner/x")  -- a folder exists at the path of the file
    raises(function() models[1]:save(folder .. "/inner") end, "save", "folder")
    equal(files.output(("ls -A '%s'"):format(folder)), "inner\n")
  end)

  it("is replaced only by a complete file", function()
    local path = files.new_path()
    models[1]:save(path)
    local whole = read(path)
    raises(function()
      core.save_tensors(path, "moonrank model 1", { "a" }, { models[1]:parameters()[1] }, { "bad" }, { "\xff" })
    end, "UTF-8")
    equal(read(path), whole)
    models[2]:save(path)
    check(read(path) ~= whole)
  end)

  it("does not replace a file that is not a model, and is not replaced by mr.checkpoint", function()
    local path = files.new_path()
    local tensors = { scores = mr.ones(2) }
    mr.checkpoint(path, {}, function() return tensors end)
    local checkpoint, foreign = read(path), file_of('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', "1234")
    raises(function() mr.models.load(path) end, "'moonrank checkpoint 1'", "'moonrank model'")
    for _, text in ipairs{ checkpoint, foreign, "a thesis", "SQLite format 3\0" } do
      write(path, text)
      raises(function() models[1]:save(path) end, path, "'moonrank model'")
      equal(read(path), text)
    end
    write(path, "")
    models[1]:save(path)
    local model = read(path)
    raises(function() mr.checkpoint(path, {}, function() return tensors end) end,
      "'moonrank model 1'", "expected")
    raises(function() core.save_tensors(path, "moonrank checkpoint 1", {}, {}, {}, {}) end,
      "is not a 'moonrank checkpoint'")
    equal(read(path), model)
    raises(function() core.save_tensors(path, "moonrank model 1", {}, {}, { "format" }, { "x" }) end,
      "'keys'", "'format'")
  end)

  it("raises an error if it is larger than the system allows", function()
    if not dofile("tests/support/program.lua").moonrank then return test.skip "MOONRANK does not name the program" end
    local folder = files.new_folder()
    local code = ([[require("moonrank").models.mf{users = 100, items = 100}:save("%s/model")]]):format(folder)
    local limited = "ulimit -f 4; %s -e '%s' 2>&1; echo status $?; ls -A %s"
    local said = files.output(limited:format(dofile("tests/support/program.lua").moonrank, code, folder))
    check(said:find("/model", 1, true) and said:find("File too large", 1, true) and said:find "status 1\n$", said)
  end)

  it("is not run as Lua code", function()
    local path = files.new_path()
    write(path, "os.exit(3)")
    raises(function() mr.models.load(path) end, "safetensors", "file")
  end)
end)

it("functions with a file name refuse zero bytes, and core.save_tensors refuses repeated names", function()
  local path = files.written "precious"
  raises(function() core.write_file(path .. "\0.csv", "hello") end, "zero byte")
  raises(function() mr.models.load(path .. "\0.model") end, "zero byte")
  raises(function() core.make_folder(path .. "\0/x") end, "zero byte")
  raises(function() mr.results(path .. "\0.db") end, "zero byte")
  equal(read(path), "precious")
  os.remove(path)
  for _, names in ipairs{ { "a", "a" }, { "__metadata__", "a" } } do
    raises(function() core.save_tensors(path, "moonrank checkpoint 1", names, { mr.ones(2), mr.ones(2) }, {}, {}) end,
      ("'%s'"):format(names[1]))
  end
end)
