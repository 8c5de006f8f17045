-- Tests that the manual's page on file formats agrees with the files that Moonrank writes.
local mr = require "moonrank"
local core = require "moonrank.core"
local schema = require "moonrank.manual.schema"
local store = require "moonrank.sweep.store"
local test = require "moonrank.test"
local texts = require "moonrank.manual.texts"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, check = test.it, test.equal, test.check

local page = texts.read "formats.md"

local function states(words) check(page:find(words, 1, true), "formats.md does not have: " .. words) end

it("formats.md describes exactly the tables and columns of a store", function()
  local folder = sweeps.new_folder()
  local opened = store.open(folder .. "/s.db", "write")
  local tables = {}
  for _, row in ipairs(opened:rows "SELECT name FROM sqlite_master WHERE type = 'table'") do
    tables[row.name] = true
  end
  for _, each in ipairs(schema.tables) do
    check(tables[each.name], each.name)
    tables[each.name] = nil
    local columns = {}
    for _, row in ipairs(opened:rows("SELECT name, type FROM pragma_table_info(?1)", each.name)) do
      check(each.columns[row.name], ("%s.%s is not described"):format(each.name, row.name))
      columns[row.name] = row.type
    end
    for name in pairs(each.columns) do check(columns[name], ("%s.%s is not there"):format(each.name, name)) end
    for _, column in ipairs(schema.columns()[each.name]) do equal(column.type, columns[column.name], each.name) end
  end
  equal(next(tables), nil)
  opened:close()
end)

it("formats.md states the application id, blobs and trial states of a store", function()
  local folder = sweeps.new_folder()
  local values = { 0.25, -1e300, 1 / 3 }
  local study = mr.sweep{ name = "a", store = folder .. "/s.db", workers = 0, progress = false,
    space = { x = mr.range(1, 2) }, metric = "m", direction = "maximize",
    run = function(trial) return { m = trial.x, per_list = mr.tensor(values, { dtype = "float64" }) } end }
  equal(study:counts().done, 2)
  local opened = store.open(folder .. "/s.db", "read")
  local blob = opened:rows("SELECT scores FROM lists WHERE name = 'm'")[1].scores
  equal({ ("<ddd"):unpack(blob) }, { values[1], values[2], values[3], 25 })
  states(("0x%08X"):format(opened:rows("PRAGMA application_id")[1].application_id))
  states "`numpy.frombuffer(blob, \"<f8\")`"
  local row = opened:rows("SELECT * FROM trials WHERE number = 1")[1]
  equal({ row.state, row.params, row.noted }, { "done", '{"x":1}', 1 })
  opened:close()
  local head = assert(io.open(folder .. "/s.db", "rb")):read(16)
  equal(head, "SQLite format 3\0")
end)

-- Returns the metadata of a safetensors file.
local function metadata(path)
  local file <close> = assert(io.open(path, "rb"))
  local length = ("<I8"):unpack(file:read(8))
  return file:read(length):match '"__metadata__":(%b{})'
end

it("formats.md names the format of every tensor file", function()
  local folder = sweeps.new_folder()
  local model = mr.models.linear{ inputs = 2 }
  local queries = mr.data.synthetic{ kind = "queries", queries = 8, features = 2 }
  mr.fit{ model = model, loss = mr.losses.ap{}, train = queries, epochs = 1, progress = false,
    checkpoint = folder .. "/fit.safetensors" }
  model:save(folder .. "/model.safetensors")
  mr.optim.adam{}:bind(model:parameters()):save(folder .. "/optimizer.safetensors")
  mr.checkpoint(folder .. "/checkpoint.safetensors", { seed = 1 }, function() return { x = mr.ones{ 2 } } end)
  for _, kind in ipairs{ "model", "optimizer", "fit", "checkpoint" } do
    local texts_of = metadata(("%s/%s.safetensors"):format(folder, kind))
    local format = texts_of:match '"format":"(moonrank [%w ]+)"'
    check(format and format:match("^moonrank " .. kind), texts_of)
    states(("| `%s` |"):format(format))
    check(texts_of:find('"numerics":', 1, true), kind)
  end
  for name, file in pairs{ epoch = "fit", stopped = "fit", kind = "model" } do
    check(metadata(("%s/%s.safetensors"):format(folder, file)):find(('"%s":'):format(name), 1, true), name)
  end
end)

it("formats.md names the magic bytes of a LETOR cache", function()
  local folder = sweeps.new_folder()
  core.write_file(folder .. "/a.txt", "1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
  core.make_folder(folder .. "/cache/x")
  mr.data.letor(folder .. "/a.txt", { cache = folder .. "/cache" })
  local name = core.list_folder(folder .. "/cache")[1]
  local head = assert(io.open(folder .. "/cache/" .. name, "rb")):read(8)
  equal(head, "mrletor\n")
  states "`mrletor` and a line feed"
end)
