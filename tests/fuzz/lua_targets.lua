-- Parsers of the library as functions of bytes, for lua_targets.cpp. An error in our words is an answer; one in the words of Lua or C++, or a
-- result that contradicts itself, is a finding.
local core = require "moonrank.core"
local mr = require "moonrank"
local frame = require "moonrank.sweep.frame"
local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local unclear = dofile(here .. "../caller/session.lua").unclear
local seeds = dofile(here .. "lua_seeds.lua")
local store_file = dofile(here .. "store_file.lua")

local M, targets = {}, {}

local contradiction <const> = "contradiction: "

local function need(holds, what)
  if not holds then error(contradiction .. what, 0) end
end

-- What Lua's own functions say of arguments that a parser should have looked at.
local phrases = { "bad argument #", "no integer representation", "data string too short", "expected, got " }

local function of_language(said)
  for _, each in ipairs(phrases) do
    if said:find(each, 1, true) then return true end
  end
  return unclear(said)
end

-- What an error says that is no answer, or "".
local function finding(problem, bytes)
  if type(problem) == "userdata" then return "" end  -- the end of a script, with its status
  if type(problem) ~= "string" then return "an error without text" end
  if problem:sub(1, #contradiction) == contradiction then return problem end
  -- an error may quote what it found
  return of_language(problem) and not of_language(bytes) and problem or ""
end

-- Runs several readers of the same bytes; the first answer of one that refuses them is the answer.
local function all_of(readers, bytes)
  local first
  for _, read in ipairs(readers) do
    local ok, problem = pcall(read)
    if not ok and finding(problem, bytes) ~= "" then error(contradiction .. tostring(problem), 0) end
    first = first or not ok and problem
  end
  if first then error(first, 0) end
end

local of_outcome = { value = "number", reason = "string", traceback = "string", wall = "number", once = "number", memory = "number",
  device = "string", numerics = "string", numbers = "table", lists = "table", reports = "table", data = "table" }

function targets.message(bytes)
  local message = require "moonrank.sweep.message"
  local paused = { turn = 1, job = { pause = 2 }, metric = "ndcg", prunes = true }
  for _, busy in ipairs{ paused, { turn = 1, job = {}, metric = "ndcg", prunes = false }, false } do
    local found = message.read(bytes, busy)
    need(not found or message.read(frame.pack(found), busy), "a message is none when it is sent again")
    for name, kind in pairs(of_outcome) do
      local value = found and found.outcome and found.outcome[name]
      need(value == nil or type(value) == kind, ("an outcome's %s is a %s"):format(name, type(value)))
    end
  end
end

function targets.store_json(bytes)
  local object = frame.from_json(bytes)
  local text = frame.to_json(object)
  need(frame.to_json(frame.from_json(text)) == text, "JSON of our own reads back otherwise")
end

-- A value of a script's options of each type.
local declared = {
  epochs = { default = 3, least = 1, most = 50, help = "of training" }, lr = { default = 0.5, least = 0 }, name = "x",
  loss = { default = "ap", choices = { "ap", "ndcg" } }, folds = { default = { 1, 2 }, distinct = true, least = 1 }, rates = { 0.5 },
  metrics = { type = "list", choices = { "ap", "err" } }, plot = { type = "string", endings = { ".svg", ".png" } }, progress = true,
  smoke = { default = false, sets = { epochs = 1 }, ignores = { "folds" } }, seed = { type = "integer", required = true },
}
local types = { epochs = "integer", lr = "number", name = "string", loss = "string", folds = "table", rates = "table", metrics = "table",
  plot = "string", progress = "boolean", smoke = "boolean", seed = "integer" }

function targets.script_options(bytes)
  local words = {}
  for word in bytes:gmatch "[^\n]+" do words[#words + 1] = word end
  local found = mr.args(declared, words)
  for name, kind in pairs(types) do
    local value = found[name]
    need(value == nil or type(value) == kind or math.type(value) == kind, ("option %s is a %s"):format(name, type(value)))
  end
  need(found.epochs >= 1 and found.epochs <= 50, "epochs outside of its range")
  need(found.seed ~= nil, "a required option is missing")
end

function targets.item_features(_, path)
  local found = mr.data.item_features(path)
  need(#found.ids == #found.features, "item features: rows")
  need(#found:of{ found.ids[#found.ids] } == 1, "item features: an item is not found")
end

function targets.comparisons(_, path)
  local set = mr.data.comparisons(path)
  need(set.lists.count > 0 or #set.items == 0, "comparisons: lists")
  need(#set.items == 2 * set.lists.count, "comparisons: items")
end

-- A table of labels in a folder with one picture, which is made once.
function targets.image_labels(bytes, _, folder)
  local images = folder .. "/images"
  if not core.file_exists(images .. "/a.png") then
    core.make_folder(images .. "/a.png")
    core.write_file(images .. "/a.png", core.encode_png(core.full({ 2, 2 }, 1, "float32", "cpu")))
  end
  core.write_file(images .. "/labels.csv", bytes)
  local found = mr.data.images(images, { size = 2 })
  need(found.count == #found.labels and found.count == #found.images, "images: labels")
end

function targets.metric_words(bytes)
  local registry = require "moonrank.metrics.registry"
  local base, direction = registry.known(bytes), registry.direction(bytes)
  need(base == nil or type(base) == "string", "a name that is no text")
  need(direction == nil or direction == "maximize" or direction == "minimize", "a direction")
  need(type(registry.our_name(bytes)) == "string", "our name is no text")
  local metric = mr.metrics.parse(bytes)
  need(mr.metrics.parse(metric.name).name == metric.name, "a metric's own name reads back otherwise")
end

function targets.model(_, path)
  local model = mr.models.load(path)
  need(type(tostring(model)) == "string", "a model without a text")
end

local optimizers = seeds.optimizers()

function targets.optimizer(bytes, path)
  local readers = {}
  for i, optimizer in ipairs(optimizers) do
    readers[i] = function() optimizer:load(path) end
  end
  all_of(readers, bytes)
end

function targets.checkpoint(bytes, path)
  local function compute() error(contradiction .. "it was not read", 0) end
  local readers = {}
  for i, mix in ipairs{ true, false } do
    readers[i] = function()
      local results, there = mr.checkpoint(path, { seed = 1 }, compute, { mix_numerics = mix })
      need(there and type(results) == "table", "a checkpoint without results")
    end
  end
  all_of(readers, bytes)
end

function targets.fit_checkpoint(_, path)
  local run = mr.fit(seeds.training(path))
  need(run.epoch == nil or run.history[#run.history], "a run without epochs")
end

-- How many tables a file of them names.
local function tables_named(path)
  local _, _, keys, values = core.load_tensors(path, "moonrank tables")
  for i, key in ipairs(keys) do
    if key == "keys" then return select(2, values[i]:gsub("[^\n]*\n", "")) + (values[i]:find "[^\n]$" and 1 or 0) end
  end
  return 0
end

function targets.tables(bytes, path)
  local before = core.count_tables()
  local count, problem = core.load_tables(path)
  need(not problem or count == 0 and core.count_tables() == before, "tables of a file with a problem")
  need(problem or bytes == "" or count == tables_named(path), "some tables of a file")
end

function targets.store_rows(bytes, _, folder)
  local path = folder .. "/rows.db"
  store_file.write(path, bytes)
  all_of(store_file.readers(path), bytes)
end

---Runs a target; the finding, or "".
---@param name string
---@param bytes string
---@param path string    of a file with them
---@param folder string  where it may write
---@return string
function M.run(name, bytes, path, folder)
  local ok, problem = pcall(targets[name], bytes, path, folder)
  return ok and "" or finding(problem, bytes)
end

M.seeds = seeds.all

return M
