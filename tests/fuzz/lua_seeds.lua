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

-- A file of tensors without the checksum, so that what is changed in it is read. Files have no other order than that of the names.
local function unchecked(path, writer)
  local names, tensors, keys, values = core.load_tensors(path, writer)
  local metadata, parts, entries, at = { format = writer .. " 1" }, {}, {}, 0
  for i, key in ipairs(keys) do metadata[key] = values[i] end
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

-- What `write` writes to a path.
local function written(folder, writer, write)
  local path = folder .. "/seed.safetensors"
  os.remove(path)
  write(path)
  local bytes = unchecked(path, writer)
  os.remove(path)
  return bytes
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
  local found = {}
  for i, model in ipairs{ mr.models.linear{ inputs = 2 }, mr.models.mf{ users = 2, items = 3, factors = 1 },
    mr.models.mlp{ inputs = 2, hidden = { 2 } }, mr.models.random{} } do
    found[i] = written(folder, "moonrank model", function(path) model:save(path) end)
  end
  return found
end

local function optimizer(folder)
  local model = mr.models.linear{ inputs = 2 }
  local adam = mr.optim.adam{ lr = 0.1 }:bind(model:parameters())
  model{ lists = mr.lists{ { 1, 0 } }, features = mr.ones(2, 2) }:sum():backward()
  adam:step()
  return written(folder, "moonrank optimizer", function(path) adam:save(path) end)
end

local function checkpoint(folder)
  return written(folder, "moonrank checkpoint", function(path)
    mr.checkpoint(path, { seed = 1 }, function() return { x = mr.ones(2), n = core.tensor({ 1, 2 }, "int64", "cpu") } end)
  end)
end

local function tables(folder)
  local loss = mr.losses.ndcg{ bound = "distribution_logit" }
  loss:mean(mr.tensor{ 1, 2, 3, 4 }, mr.lists{ { 0, 1, 0, 1 } })
  return written(folder, "moonrank tables", function(path) core.save_tables(path) end):gsub("moonrank tables 1", "moonrank tables 2") .. ""
end

local function messages()
  local report = { step = 2, values = { ndcg = 0.5 } }
  return {
    frame.pack{ kind = "ready", fingerprint = "ab", numerics = "n" }, frame.pack{ kind = "report", report = report },
    frame.pack{ kind = "end", outcome = { state = "done", value = 0.25, wall = 1.5, memory = 7, device = "cpu", numerics = "n",
      numbers = { ndcg = 0.5 }, lists = { ndcg = "12345678" }, reports = { report },
      data = { { role = "train", fingerprint = "ab", what = "queries" } } } },
    frame.pack{ kind = "end", outcome = { state = "failed", reason = "x", traceback = "y" } }, frame.pack{ { { { true, false } } } },
  }
end

local store_rows = {
  "", 'trials.params 2 t{"fold":2,"lr":null}\ntrials.value 1 n\nnumbers.value 2 r1e999\n', "studies.metric 1 nx\nlists.scores 1 babc\n",
  "trials.state 3 tdone\ntrials.params 3 t{\"a\":[1]}\ntrials.numerics 1 tx\ndata.role 1 tother\n", "studies.direction 1 tminimize\n",
}

local script_options = {
  "--seed\n1", "--seed=1\n--epochs=3\n--lr\n1e-3\n--no-progress\n--folds=1,2,3\n--metrics=ap,err\n--plot=a.svg", "--help", "-h",
  "--seed\n1\n--smoke", "--smoke\n--epochs\n2\n--seed=1", "--seed=1\n--smoke\n--folds=1", "--sed=1", "--folds=1,1", "--plot=a.gif", "x",
  "--no-progress=1", "--epochs", "--epochs=99", "--lr=nan", "--seed=1\n--progress=false\n--rates=0.1,1\n--device=cpu",
  "--loss=x", "--folds=,",
}

---The seeds of every target.
---@param folder string  where files may be written
---@return table<string, string[]>
function M.all(folder)
  return {
    message = messages(), script_options = script_options, store_rows = store_rows,
    store_json = { '{"a":2,"b":"x\\n\\u0001","c":true,"d":1.5,"e":null}', "{}", '{"a":9223372036854775808}', '{"a":[1]}', "[1]" },
    item_features = { "item,a,b\nx,0.5,1\ny,2,0\n", "1,2\r\n2,3", "x,1,2\nx,1\n", "x\n", ",1\n", "x,1\nx,2\n", "x,nan\n" },
    comparisons = { "item_a,item_b,winner\nx,y,x\ny,z,b\nx,z,tie\nz,y,y\ny,x,a\n", "item_a,item_b,winner\n1,20,1\n20,3,3\n",
      "item_a,item_b,winner\nx,x,x\n", "item_a,item_b,winner\nx,y,z\n" },
    image_labels = { "file,label\na.png,3.5\n", "file,label\n./a.png,1\n//a.png,2\n", "file,label\n../a.png,1\n", "file,label\na.png,0x1\n",
      "file,label\n", "file,label\n\"a\tb\",1\n", "file,label\nb.png,1\n" },
    metric_words = { "valid_ndcg@10", "test_map@5", "ndcg[minmax]", "nrbp_loss", "mrr", "rbp(0.5)", "seconds" },
    model = models(folder), optimizer = { optimizer(folder) }, checkpoint = { checkpoint(folder) },
    fit_checkpoint = { written(folder, "moonrank fit", function(path) mr.fit(M.training(path)) end) }, tables = { tables(folder) },
  }
end

return M
