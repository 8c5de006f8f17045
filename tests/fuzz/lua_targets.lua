-- Fuzz targets: parsers of the library as functions of bytes, called by lua_targets.cpp. An error in Moonrank's own
-- words is a valid answer. An error in the words of Lua or C++, or a result that contradicts itself, is a bug.
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

-- Phrases in errors of Lua's own functions about arguments that a parser should have checked.
local phrases = { "bad argument #", "no integer representation", "data string too short", "expected, got " }

local function of_language(said)
  for _, each in ipairs(phrases) do
    if said:find(each, 1, true) then return true end
  end
  return unclear(said)
end

-- Returns the text of an error if it shows a bug in a parser, or "" if the parser rightly rejects its input.
local function finding(problem, bytes)
  if type(problem) == "userdata" then return "" end  -- an error that ends a script with an exit status
  if type(problem) ~= "string" then return "an error without text" end
  if problem:sub(1, #contradiction) == contradiction then return problem end
  -- an error may quote the bytes that it found as \xff; the digits of such escapes are not letters of a word
  local own = problem:gsub("\\x%x%x", "")
  return of_language(own) and not of_language(bytes) and problem or ""
end

-- Runs several readers on the same bytes. If one raises an error that is not in Moonrank's own words, this is a bug.
-- Otherwise the first reader's error, if any, is raised.
local function all_of(readers, bytes)
  local first
  for _, read in ipairs(readers) do
    local ok, problem = pcall(read)
    if not ok and finding(problem, bytes) ~= "" then error(contradiction .. tostring(problem), 0) end
    first = first or not ok and problem
  end
  if first then error(first, 0) end
end

function targets.message(bytes)
  local message = require "moonrank.sweep.workers.message"
  for _, turn in ipairs{ 1, false } do
    local found = message.read(bytes, turn)
    need(not found or message.read(frame.pack(found), turn), "a message is none when it is sent again")
  end
end

function targets.store_json(bytes)
  local object = frame.from_json(bytes)
  local text = frame.to_json(object)
  need(frame.to_json(frame.from_json(text)) == text, "JSON of our own reads back otherwise")
end

-- Options of a made-up script, at least one of each type.
local declared = {
  epochs = { default = 3, least = 1, most = 50, help = "of training" }, lr = { default = 0.5, least = 0 }, name = "x",
  loss = { default = "ap", choices = { "ap", "ndcg" } },
  folds = { default = { 1, 2 }, distinct = true, least = 1 }, rates = { 0.5 },
  metrics = { type = "list", choices = { "ap", "err" } },
  plot = { type = "string", endings = { ".svg", ".png" } }, progress = true,
  smoke = { default = false, sets = { epochs = 1 }, ignores = { "folds" } },
  seed = { type = "integer", required = true },
}
local types = { epochs = "integer", lr = "number", name = "string", loss = "string", folds = "table", rates = "table",
  metrics = "table", plot = "string", progress = "boolean", smoke = "boolean", seed = "integer" }

-- Parses a value of the fuzz input; its first letter is the type: n(il), z (true), i(nteger), r(eal), t(ext), l(ist).
local function value_of(kind, text)
  if kind == "i" then return math.tointeger(tonumber(text)) end
  if kind == "r" then return (tonumber(text) or 0) + 0.0 end
  if kind == "l" then
    local list = {}
    for each in text:gmatch "[^,]+" do list[#list + 1] = tonumber(each) or each end
    return list
  end
  return kind == "t" and text or kind == "z" or nil
end

-- Adds the option or field that a line declares: "@epochs i3", "@epochs.least i1", "@smoke.sets.epochs i1". Returns nil
-- if the line does not declare an option.
local function declare(made, line)
  local name, field, inner, kind, text = line:match "^@([%w_]+)%.?(%l*)%.?([%w_]*) ([nzirtl])(.*)$"
  if not name then return nil end
  local value = value_of(kind, text)
  if field == "" then
    made[name] = value
    return made
  end
  made[name] = type(made[name]) == "table" and made[name] or {}
  if inner ~= "" then
    made[name][field] = type(made[name][field]) == "table" and made[name][field] or {}
    made[name][field][inner] = value
  else
    made[name][field] = value
  end
  return made
end

local of_kind = { integer = math.type, number = type, string = type, boolean = type, list = type }

-- Raises an error if an option's value contradicts its declaration.
local function need_as_declared(name, d, value)
  if type(d) ~= "table" or #d > 0 or next(d) == nil or value == nil then return end
  local kind = d.type or "none"
  need(kind == "none" or of_kind[kind](value) == (kind == "list" and "table" or kind),
    ("option %s is no %s"):format(name, kind))
  local given = type(value) == "number" and value ~= d.default
  need(not given or value >= (d.least or value) and value <= (d.most or value),
    ("option %s is outside of its range"):format(name))
end

-- Fuzzes options of scripts. Lines that begin with "@" declare options, other lines are the words of the command line.
-- All lines are also a script, whose first comment is shown by --help.
function targets.script_options(bytes, path)
  local words, made = {}, nil
  for line in bytes:gmatch "[^\n]+" do
    local more = declare(made or {}, line)
    made = more or made
    if not more then words[#words + 1] = line end
  end
  local own = rawget(_G, "arg")
  rawset(_G, "arg", { [0] = path })
  local ok, found = pcall(mr.args, made or declared, words)
  rawset(_G, "arg", own)
  if not ok then error(found, 0) end
  -- `sets` gives another option a value that a command line could not give it, so values are not checked
  local sets = bytes:find("%.sets")
  for name, d in pairs(not sets and made or {}) do need_as_declared(name, d, found[name]) end
  if made then return end
  for name, kind in pairs(types) do
    local value = found[name]
    need(value == nil or type(value) == kind or math.type(value) == kind,
      ("option %s is a %s"):format(name, type(value)))
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

-- Fuzzes the table of labels (labels.csv) of a folder of images, which has one picture.
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

-- Reads options of a metric from the fuzz input, which has one on each line after the metric's name: "gain texp2".
local function metric_options(bytes)
  local options = {}
  for name, kind, text in bytes:gmatch "\n([%w_]+) ([nzirt])([^\n]*)" do options[name] = value_of(kind, text) end
  return options
end

function targets.metric_words(text)
  local registry = require "moonrank.metrics.registry"
  local bytes, options = text:match "^[^\n]*", next(metric_options(text)) and metric_options(text)
  if options then
    local metric = mr.metrics.parse(bytes, options)
    for name, value in pairs(options) do
      need(name == "name" and metric.name == value or metric.options[name] == value,
        "an option is another one than was given")
    end
    return
  end
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
  -- raises the error of a file that cannot be parsed at all, before each reader tries
  core.load_tensors(path, "moonrank optimizer")
  local readers = {}
  for i, optimizer in ipairs(optimizers) do
    readers[i] = function() optimizer:load(path) end
  end
  all_of(readers, bytes)
end

-- Metadata of a checkpoint file whose names settings must not have.
local own = { "format", "numerics", "checksum xxh64", "checksum of" }

-- Checks a checkpoint file against its own settings: it must be accepted, and a file that is written from its contents
-- must give the same contents when it is read.
local function write_again(path, folder)
  local names, tensors, keys, values = core.load_tensors(path, "moonrank checkpoint")
  local settings, given, again = {}, {}, folder .. "/again"
  for i, name in ipairs(names) do given[name] = tensors[i] end
  for i, key in ipairs(keys) do settings[key] = values[i] end
  for _, name in ipairs(own) do
    need(settings[name] == nil or not pcall(mr.checkpoint, path, settings, error),
      "a setting that is called as what the file says itself")
    settings[name] = nil
  end
  local function copied(file)
    return select(2, mr.checkpoint(file, settings, function() return given end, { mix_numerics = true }))
  end
  os.remove(again)
  need(copied(path) and not copied(again) and copied(again), "a checkpoint by its own settings is not read")
  local found = mr.checkpoint(again, settings, error)
  for name, x in pairs(given) do
    need(tostring(found[name]) == tostring(x), "a tensor is another one when it is written again")
  end
end

function targets.checkpoint(bytes, path, folder)
  -- raises the error of a file that cannot be parsed at all, before each reader tries
  core.load_tensors(path, "moonrank checkpoint")
  local function compute() error(contradiction .. "it was not read", 0) end
  local readers = { function() write_again(path, folder) end }
  for _, mix in ipairs{ true, false } do
    readers[#readers + 1] = function()
      local results, there = mr.checkpoint(path, { seed = 1 }, compute, { mix_numerics = mix })
      need(there and type(results) == "table", "a checkpoint without results")
    end
  end
  all_of(readers, bytes)
end

local silent = { write = function() end }

local opened  -- the arguments with which mr.fit reads a checkpoint file: plan, run and epochs

-- Reads a file as mr.fit does before it trains, but does not train, which would take much longer. A file of another
-- numerics version is accepted only if `mix` is true.
local function read_training(path, mix)
  local keepers = require "moonrank.fit.checkpoint"
  if not opened then
    local new = keepers.new
    function keepers.new(plan, run)
      opened = { plan, run, require("moonrank.fit.epochs").start(plan) }
      error("taken", 0)
    end
    pcall(mr.fit, seeds.training(path))
    keepers.new = new
  end
  local plan, run, epochs = table.unpack(opened)
  plan.checkpoint.path, plan.checkpoint.mix_numerics = path, mix
  keepers.new(plan, run):open(epochs)
end

-- Continues a training run from a file that was accepted. Warnings about metrics that are NaN in the file are not
-- printed.
function targets.fit_checkpoint(_, path)
  local mix = not pcall(read_training, path, false)
  if mix then read_training(path, true) end
  local options, stderr = seeds.training(path), io.stderr
  options.checkpoint.mix_numerics = mix
  rawset(io, "stderr", silent)
  local ok, run = pcall(mr.fit, options)
  rawset(io, "stderr", stderr)
  if not ok then error(run, 0) end
  need(run.epoch == nil or run.history[#run.history], "a run without epochs")
end

function targets.store_rows(bytes, _, folder)
  local path = folder .. "/rows.db"
  store_file.write(path, bytes)
  all_of(store_file.readers(path, bytes), bytes)
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
