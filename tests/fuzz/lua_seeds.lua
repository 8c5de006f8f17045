-- Valid inputs from which the fuzz targets of lua_targets.lua start.
local core = require "moonrank.core"
local mr = require "moonrank"
local frame = require "moonrank.sweep.frame"

local M = {}

local formats = { float32 = "<f", float64 = "<d", int64 = "<i8" }
local kinds = { float32 = "F32", float64 = "F64", int64 = "I64" }

local function numbers_of(x)
  local parts = {}
  for i, value in ipairs(x:reshape(x:numel()):totable()) do parts[i] = formats[x.dtype]:pack(value) end
  return table.concat(parts)
end

-- Returns the bytes of a tensor file without its checksum, so that a mutated file is still parsed. `other` changes its
-- metadata, and `renamed` is a new name for its first tensor.
local function unchecked(path, writer, other, renamed)
  local names, tensors, keys, values = core.load_tensors(path, writer)
  local metadata, parts, entries, at = { format = writer .. " 1" }, {}, {}, 0
  for i, key in ipairs(keys) do metadata[key] = values[i] end
  for key, value in pairs(other) do metadata[key] = value or nil end
  names[1] = renamed or names[1]
  for i, x in ipairs(tensors) do
    parts[i] = numbers_of(x)
    local name = frame.to_json{ [names[i]] = 0 }:match '^{(".*"):0}$'
    entries[i] = ('%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(
      name, kinds[x.dtype], table.concat(x:shape(), ","), at, at + #parts[i])
    at = at + #parts[i]
  end
  local header = ('{"__metadata__":%s,%s}'):format(frame.to_json(metadata), table.concat(entries, ","))
  return ("<s8"):pack(header) .. table.concat(parts)
end

-- Returns contents of the tensor file that `write` makes, without its checksum: unchanged, with each of these changes
-- of its metadata (false removes an entry), and with another name for its first tensor.
local function written(folder, writer, write, ...)
  local path, found = folder .. "/seed.safetensors", {}
  os.remove(path)
  write(path)
  for i, other in ipairs{ {}, ... } do found[i] = unchecked(path, writer, other) end
  found[#found + 1] = unchecked(path, writer, {}, "another")
  os.remove(path)
  return table.unpack(found)
end

local trained_on  -- made only once, because its fingerprint takes time

---A short training that is kept in a file.
---@param path string
---@return table  options of mr.fit
function M.training(path)
  trained_on = trained_on or mr.data.dataset{ lists = mr.lists{ { 0, 1 }, { 1, 0 } },
    features = mr.tensor{ { 1, 0 }, { 0, 1 }, { 0.5, 1 }, { 1, 1 } } }
  local set = trained_on
  return { model = mr.models.linear{ inputs = 2 }, loss = mr.losses.mse{}, train = set, valid = set, metrics = { "ap" },
    epochs = 1, optimizer = mr.optim.adam{ lr = 0.1 }, progress = false, checkpoint = { path = path } }
end

-- Models that a script defines: one with options of every type and a buffer, and one without options.
local function defined()
  local made = {}
  local function of_width(o) return mr.ones(o.width or 1) end
  made.typed = mr.models.define("typed", {
    required = { width = "integer", rate = "number", title = "string", deep = "boolean", sizes = "integers" },
    options = { scale = 0.5 }, check = function(o) assert(o.width < 4096, "mr.models.typed: width is 4096 or more") end,
    parameters = function(o) return { weight = of_width(o):requires_grad() } end,
    buffers = function(o) return { seen = of_width(o) } end,
    forward = function(self, batch) return batch.features:matmul(self.weight) end })
  made.bare = mr.models.define("bare", { parameters = function() return { weight = of_width{}:requires_grad() } end,
    forward = function(self, batch) return batch.features:sum(2) * self.weight end })
  return made
end

local function models(folder)
  local function of(model, ...) return written(folder, "moonrank model", function(path) model:save(path) end, ...) end
  local own = defined()
  local found = { (of(mr.models.mf{ users = 2, items = 3, factors = 1 })),
    (of(mr.models.mlp{ inputs = 2, hidden = { 2 } })), (of(mr.models.random{})) }
  local function add(...) table.move({ ... }, 1, select("#", ...), #found + 1, found) end
  add(of(own.typed{ width = 2, rate = 0.5, title = "x", deep = true, sizes = { 3, 4 } }, { rate = "x" },
    { rate = "1e999" }, { width = "4096" }, { width = "0" }, { sizes = "x" }, { deep = "false" }, { scale = "-1" }))
  add(of(own.bare{}, { width = "2" }, { seed = "2" }))
  add(of(mr.models.linear{ inputs = 2 }, { kind = "none" }, { kind = false }, { inputs = "x" }, { inputs = "-1" },
    { inputs = "3" }, { inputs = "9223372036854775807" }, { seed = "1.5" }, { dtype = "float16" },
    { dtype = "float64" }, { more = "1" }, { format = "moonrank fit 1" }, { kind = "trees" }, { kind = "popularity" },
    { kind = "mlp", hidden = "2,x" }))
  return found
end

---Optimizers that have taken a step: of a dense model, of one whose steps are put off, and of one whose rows are moved
---at once.
---@return mr.Optimizer[]
function M.optimizers()
  local found = {}
  local lists, features = mr.lists{ { 1, 0 } }, mr.ones(2, 2)
  local users, items = core.tensor({ 1 }, "int64", "cpu"), core.tensor({ 1, 3 }, "int64", "cpu")
  local function adam() return mr.optim.adam{ lr = 0.1 } end
  local function sgd() return mr.optim.sgd{ lr = 0.1, momentum = 0.9 } end
  local function factors() return mr.models.mf{ users = 2, items = 3, factors = 1 } end
  local function dense() return mr.models.linear{ inputs = 2 } end
  local usual = core.put_off_from(1)  -- number of entries from which a parameter's updates are deferred
  for i, each in ipairs{ { dense, adam }, { factors, adam }, { dense, sgd }, { factors, sgd }, { factors, adam } } do
    if i == 5 then core.put_off_from(usual) end
    local model = each[1]()
    model{ lists = lists, features = features, users = users, items = items }:sum():backward()
    found[i] = each[2]():bind(model:parameters())
    found[i]:step()
  end
  return found
end

local function optimizer_files(folder)
  local found = {}
  for i, optimizer in ipairs(M.optimizers()) do
    found[i] = written(folder, "moonrank optimizer", function(path) optimizer:save(path) end)
  end
  local dense = M.optimizers()[1]
  table.move({ written(folder, "moonrank optimizer", function(path) dense:save(path) end, { kind = "x" }) }, 1, 3,
    #found + 1, found)
  -- replacements of equal length, so that the lengths in the header stay right
  for _, change in ipairs{ { '("1.counts":{"dtype":")I64', "%1F64" }, { '"1.square"', '"1.sqvare"' },
    { '"shape":%[2,1%]', '"shape":[1,2]' }, { "\1\0\0\0\0\0\0\0", "\1\0\0\0\0\0\0\xff" } } do
    found[#found + 1] = found[1]:gsub(change[1], change[2]) .. ""
  end
  for _, name in ipairs{ "rows", "settings" } do
    found[#found + 1] = found[2]:gsub("1%." .. name, "1." .. ("x"):rep(#name)) .. ""
  end
  return found
end

local function checkpoint(folder)
  return written(folder, "moonrank checkpoint", function(path)
    mr.checkpoint(path, { seed = 1 },
      function() return { x = mr.ones(2), n = core.tensor({ 1, 2 }, "int64", "cpu") } end)
  end, { seed = "2" }, { seed = false }, { numerics = false }, { numerics = "x" }, { format = "moonrank model 1" })
end

local function fits(folder)
  local found = { written(folder, "moonrank fit", function(path) mr.fit(M.training(path)) end,
    { epoch = "0" }, { epoch = "2" }, { epoch = "x" }, { ["setting loss"] = "x" }, { ["setting seed"] = false },
    { numerics = "x" }, { ["best 1"] = "7" }, { ["best 1"] = "0" }, { ["first 1"] = "1" }, { stopped = "early" },
    { format = "moonrank model 1" }) }
  found[#found + 1] = found[1]:gsub('"shape":%[2,1%]', '"shape":[1,2]') .. ""
  return found
end

local function messages()
  local report = { step = 2, values = { ndcg = 0.5 } }
  return {
    frame.pack{ kind = "ready", fingerprint = "ab", numerics = "n" },
    frame.pack{ kind = "report", turn = 1, report = report },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "done", value = 0.25, wall = 1.5, memory = 7,
      device = "cpu", numerics = "n", numbers = { ndcg = 0.5 }, lists = { ndcg = "12345678" }, reports = { report },
      data = { { role = "train", fingerprint = "ab", what = "queries" } } } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "failed", reason = "x", traceback = "y" } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "paused", reports = { report } } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "pruned" } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "failed", wall = "x", reason = 1 } },
    frame.pack{ { { { true, false } } } },
  }
end

local store_rows = {
  "", 'trials.params 2 t{"fold":2,"lr":null}\ntrials.value 1 n\nnumbers.value 2 r1e999\n',
  "studies.metric 1 nx\nlists.scores 1 babc\n", "do 1", "do 2", "do 3", "do 4", "do 5", "do 6", "do 7", "do 8", "do 9",
  "print", "print\ndo 8", "print\ndo 7",
  "write", "write\ndo 2\ndo 5", "write\ndo 2", "trials.value 1 z\ntrials.seed 2 i9\ntrials.wall 1 r-1.5",
  "trials.state 1 tfailed\ntrials.state 2 tfailed\ntrials.state 5 tfailed\ntrials.state 6 tfailed",
  "trials.state 3 tdone\ntrials.params 3 t{\"a\":[1]}\ntrials.numerics 1 tx\ndata.role 1 tother\n",
  "studies.direction 1 tminimize\n",
}

local script_options = {
  "--seed\n1",
  "--seed=1\n--epochs=3\n--lr\n1e-3\n--no-progress\n--folds=1,2,3\n--metrics=ap,err\n--plot=a.svg", "--help", "-h",
  "--seed\n1\n--smoke", "--smoke\n--epochs\n2\n--seed=1", "--seed=1\n--smoke\n--folds=1", "--sed=1", "--folds=1,1",
  "--plot=a.gif", "x", "--no-progress=1", "--epochs", "--epochs=99", "--lr=nan",
  "--seed=1\n--progress=false\n--rates=0.1,1\n--device=cpu", "--loss=x", "--folds=,",
  -- inputs that declare options themselves, valid and invalid
  "#!moonrank\n-- What it does,\n-- in two lines.\n@a i1\n--help",
  "@a.default r0.5\n@a.help tx\n@a.least i0\n@b.type tlist\n@b.endings l.svg,.png\n--b=x.svg",
  "@a.more i1", "@a.help i1", "@a.type tx", "@a.least i1", "@a.default tx\n@a.type tinteger",
  "@a.default tx\n@a.most i1", "@a.default i1\n@a.endings l.svg", "@a.default tx\n@a.endings l1",
  "@a l1,2\n@a.distinct z", "@a.default z\n@a.sets.b i1\n@b i2\n--a",
  "@a.default z\n@a.ignores lb", "@a.default i1\n@a.sets.b i1\n@b i2",
  "@a.type tnumber\n@a.choices l1,2\n@a.required z\n--a\n1", "@device i1\n--device=1",
  "@a.default z\n@a.sets.b tx\n@b i2", "@a.default l1", "@a.default l\n@a.distinct z\n--a=1,1",
}

-- Returns lines of 260 items, more than a parser takes at once.
local function many_items()
  local lines = {}
  for i = 1, 260 do lines[i] = i .. ",1\n" end
  return table.concat(lines)
end

---The seeds of every target.
---@param folder string  where files may be written
---@return table<string, string[]>
function M.all(folder)
  return {
    message = messages(), script_options = script_options, store_rows = store_rows,
    store_json = { '{"a":2,"b":"x\\n\\u0001","c":true,"d":1.5,"e":null}', "{}", '{"a":9223372036854775808}',
      '{"a":[1]}', "[1]" },
    item_features = { many_items(), "item,a,b\nx,0.5,1\ny,2,0\n", "1,2\r\n2,3", "x,1,2\nx,1\n", "x\n", ",1\n",
      "x,1\nx,2\n", "x,nan\n", "x,\xffilesystem error\n" },
    comparisons = { "item_a,item_b,winner\nx,y,x\ny,z,b\nx,z,tie\nz,y,y\ny,x,a\n",
      "item_a,item_b,winner\n1,20,1\n20,3,3\n", "item_a,item_b,winner\nx,x,x\n", "item_a,item_b,winner\nx,y,z\n" },
    image_labels = { "file,label\na.png,3.5\n", "file,label\n./a.png,1\n//a.png,2\n", "file,label\n../a.png,1\n",
      "file,label\na.png,0x1\n", "file,label\n", "file,label\n\"a\tb\",1\n", "file,label\nb.png,1\n" },
    metric_words = { "valid_ndcg@10", "test_map@5", "ndcg[minmax]", "nrbp_loss", "mrr", "rbp(0.5)", "seconds",
      "ndcg@5\ngain tlinear\nties tworst\nempty tzero\nrelevant r2", "ndcg\nk i5\nname tx", "rbp\np r0.5\nk i3",
      "rbp(0.5)\np r0.25", "ndcg@5\nk i5", "ndcg@5\nk i6", "ndcg\nk r5", "ap\nrelevant tx", "ap\nrelevant rnan",
      "ap\ngain texp2", "ap\nties z" },
    model = models(folder), optimizer = optimizer_files(folder), checkpoint = { checkpoint(folder) },
    fit_checkpoint = fits(folder),
  }
end

return M
