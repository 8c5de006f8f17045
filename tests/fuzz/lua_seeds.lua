-- Inputs of the targets of lua_targets.lua that their parsers accept.
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

-- A file of tensors without the checksum, so that what is changed in it is read; with other metadata, and another name for its first tensor.
local function unchecked(path, writer, other, renamed)
  local names, tensors, keys, values = core.load_tensors(path, writer)
  local metadata, parts, entries, at = { format = writer .. " 1" }, {}, {}, 0
  for i, key in ipairs(keys) do metadata[key] = values[i] end
  for key, value in pairs(other) do metadata[key] = value or nil end
  names[1] = renamed or names[1]
  for i, x in ipairs(tensors) do
    parts[i] = numbers_of(x)
    local name = frame.to_json{ [names[i]] = 0 }:match '^{(".*"):0}$'
    entries[i] = ('%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(name, kinds[x.dtype], table.concat(x:shape(), ","), at,
      at + #parts[i])
    at = at + #parts[i]
  end
  local header = ('{"__metadata__":%s,%s}'):format(frame.to_json(metadata), table.concat(entries, ","))
  return ("<s8"):pack(header) .. table.concat(parts)
end

-- What `write` writes to a path; and the same with each of these changes of its metadata (false: none), and with another tensor.
local function written(folder, writer, write, ...)
  local path, found = folder .. "/seed.safetensors", {}
  os.remove(path)
  write(path)
  for i, other in ipairs{ {}, ... } do found[i] = unchecked(path, writer, other) end
  found[#found + 1] = unchecked(path, writer, {}, "another")
  os.remove(path)
  return table.unpack(found)
end

---A short training that is kept in a file.
---@param path string
---@return table  options of mr.fit
function M.training(path)
  local lists = mr.lists{ { 0, 1 }, { 1, 0 } }
  local set = mr.data.dataset{ lists = lists, features = mr.tensor{ { 1, 0 }, { 0, 1 }, { 0.5, 1 }, { 1, 1 } } }
  return { model = mr.models.linear{ inputs = 2 }, loss = mr.losses.mse{}, train = set, valid = set, metrics = { "ap" }, epochs = 1,
    optimizer = mr.optim.adam{ lr = 0.1 }, progress = false, checkpoint = { path = path, mix_numerics = true } }
end

local function models(folder)
  local function of(model, ...) return written(folder, "moonrank model", function(path) model:save(path) end, ...) end
  return { (of(mr.models.mf{ users = 2, items = 3, factors = 1 })), (of(mr.models.mlp{ inputs = 2, hidden = { 2 } })),
    (of(mr.models.random{})),
    of(mr.models.linear{ inputs = 2 }, { kind = "none" }, { kind = false }, { inputs = "x" }, { inputs = "-1" }, { inputs = "3" },
      { inputs = "9223372036854775807" }, { seed = "1.5" }, { dtype = "float16" }, { dtype = "float64" }, { more = "1" },
      { format = "moonrank fit 1" }, { kind = "trees" }, { kind = "popularity" }, { kind = "mlp", hidden = "2,x" }) }
end

---Optimizers of a dense model, and of one whose steps are put off, that have taken a step.
---@return mr.Optimizer[]
function M.optimizers()
  local found, was = {}, core.put_off_from(1)  -- entries of a parameter
  local lists, features = mr.lists{ { 1, 0 } }, mr.ones(2, 2)
  local users, items = core.tensor({ 1 }, "int64", "cpu"), core.tensor({ 1, 3 }, "int64", "cpu")
  local function adam() return mr.optim.adam{ lr = 0.1 } end
  local function sgd() return mr.optim.sgd{ lr = 0.1, momentum = 0.9 } end
  for i, make in ipairs{ adam, sgd } do
    local dense, factors = mr.models.linear{ inputs = 2 }, mr.models.mf{ users = 2, items = 3, factors = 1 }
    dense{ lists = lists, features = features }:sum():backward()
    factors{ lists = lists, users = users, items = items }:sum():backward()
    for k, model in ipairs{ dense, factors } do
      local optimizer = make():bind(model:parameters())
      optimizer:step()
      found[2 * i + k - 2] = optimizer
    end
  end
  core.put_off_from(was)
  return found
end

local function optimizer_files(folder)
  local found = {}
  for i, optimizer in ipairs(M.optimizers()) do
    found[i] = written(folder, "moonrank optimizer", function(path) optimizer:save(path) end)
  end
  local dense = M.optimizers()[1]
  table.move({ written(folder, "moonrank optimizer", function(path) dense:save(path) end, { kind = "x" }) }, 1, 3, #found + 1, found)
  -- the same lengths, so that the header's stays true
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
    mr.checkpoint(path, { seed = 1 }, function() return { x = mr.ones(2), n = core.tensor({ 1, 2 }, "int64", "cpu") } end)
  end, { seed = "2" }, { seed = false }, { numerics = false }, { numerics = "x" }, { format = "moonrank model 1" })
end

local function tables(folder)
  local loss = mr.losses.ndcg{ bound = "distribution_logit" }
  loss:mean(mr.tensor{ 1, 2, 3, 4, 5, 6, 7 }, mr.lists{ { 0, 1, 0, 1 }, { 0, 1, 0 } })
  local format = "moonrank tables 2"
  local found = { written(folder, "moonrank tables", function(path) core.save_tables(path) end, { format = format },
    { format = format, keys = "c\nd" }, { format = format, numerics = "other" },
    { format = format, keys = "a\nb" }, { format = format, keys = "a\na" }, { format = "x" }) }
  found[3] = found[3]:sub(1, -9) .. ("<d"):pack(-1)  -- a step of the last table, after one that is not known yet
  return table.unpack(found, 2)
end

local function fits(folder)
  local found = { written(folder, "moonrank fit", function(path) mr.fit(M.training(path)) end,
    { epoch = "0" }, { epoch = "2" }, { epoch = "x" }, { ["setting loss"] = "x" }, { ["setting seed"] = false }, { numerics = "x" },
    { ["best 1"] = "7" }, { ["best 1"] = "0" }, { ["first 1"] = "1" }, { stopped = "early" }, { format = "moonrank model 1" }) }
  found[#found + 1] = found[1]:gsub('"shape":%[2,1%]', '"shape":[1,2]') .. ""
  return found
end

local function messages()
  local report = { step = 2, values = { ndcg = 0.5 } }
  return {
    frame.pack{ kind = "ready", fingerprint = "ab", numerics = "n" }, frame.pack{ kind = "report", turn = 1, report = report },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "done", value = 0.25, wall = 1.5, memory = 7, device = "cpu", numerics = "n",
      numbers = { ndcg = 0.5 }, lists = { ndcg = "12345678" }, reports = { report },
      data = { { role = "train", fingerprint = "ab", what = "queries" } } } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "failed", reason = "x", traceback = "y" } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "paused", reports = { report } } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "pruned" } },
    frame.pack{ kind = "end", turn = 1, outcome = { state = "failed", wall = "x", reason = 1 } }, frame.pack{ { { { true, false } } } },
  }
end

local store_rows = {
  "", 'trials.params 2 t{"fold":2,"lr":null}\ntrials.value 1 n\nnumbers.value 2 r1e999\n', "studies.metric 1 nx\nlists.scores 1 babc\n",
  "do 1", "do 2", "do 3", "do 4", "do 5", "do 6", "do 7", "do 8", "do 9",
  "trials.state 1 tfailed\ntrials.state 2 tfailed\ntrials.state 5 tfailed\ntrials.state 6 tfailed",
  "trials.state 3 tdone\ntrials.params 3 t{\"a\":[1]}\ntrials.numerics 1 tx\ndata.role 1 tother\n", "studies.direction 1 tminimize\n",
}

local script_options = {
  "--seed\n1", "--seed=1\n--epochs=3\n--lr\n1e-3\n--no-progress\n--folds=1,2,3\n--metrics=ap,err\n--plot=a.svg", "--help", "-h",
  "--seed\n1\n--smoke", "--smoke\n--epochs\n2\n--seed=1", "--seed=1\n--smoke\n--folds=1", "--sed=1", "--folds=1,1", "--plot=a.gif", "x",
  "--no-progress=1", "--epochs", "--epochs=99", "--lr=nan", "--seed=1\n--progress=false\n--rates=0.1,1\n--device=cpu",
  "--loss=x", "--folds=,",
}

-- More items than are taken at once.
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
    store_json = { '{"a":2,"b":"x\\n\\u0001","c":true,"d":1.5,"e":null}', "{}", '{"a":9223372036854775808}', '{"a":[1]}', "[1]" },
    item_features = { many_items(), "item,a,b\nx,0.5,1\ny,2,0\n", "1,2\r\n2,3", "x,1,2\nx,1\n", "x\n", ",1\n", "x,1\nx,2\n", "x,nan\n" },
    comparisons = { "item_a,item_b,winner\nx,y,x\ny,z,b\nx,z,tie\nz,y,y\ny,x,a\n", "item_a,item_b,winner\n1,20,1\n20,3,3\n",
      "item_a,item_b,winner\nx,x,x\n", "item_a,item_b,winner\nx,y,z\n" },
    image_labels = { "file,label\na.png,3.5\n", "file,label\n./a.png,1\n//a.png,2\n", "file,label\n../a.png,1\n", "file,label\na.png,0x1\n",
      "file,label\n", "file,label\n\"a\tb\",1\n", "file,label\nb.png,1\n" },
    metric_words = { "valid_ndcg@10", "test_map@5", "ndcg[minmax]", "nrbp_loss", "mrr", "rbp(0.5)", "seconds" },
    model = models(folder), optimizer = optimizer_files(folder), checkpoint = { checkpoint(folder) }, tables = { tables(folder) },
    fit_checkpoint = fits(folder),
  }
end

return M
