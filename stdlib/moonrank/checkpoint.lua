-- mr.checkpoint stores the tensors that a step of an experiment computes in a file. When the script runs again, the
-- file is read instead of computing the tensors again.
local core = require "moonrank.core"
local check = require "moonrank.check"
local option_names = require "moonrank.options"
local paths = require "moonrank.system.paths"
local setting = require "moonrank.system.settings"

local M = {}

-- Raises an error if the checkpoint file `path` was written with other settings, and names the first setting that
-- differs. `was` has the file's settings as texts, `settings` the present ones as texts, `given` their values.
local function compare(path, settings, was, given)
  local names = {}
  for name in pairs(settings) do names[name] = true end
  for name in pairs(was) do names[name] = name ~= "format" and name ~= "numerics" or nil end
  for _, name in ipairs(check.names(names)) do
    local function text_of(round)
      if given[name] == nil then return settings[name] end
      return setting.text("mr.checkpoint", name, given[name], round)
    end
    if not option_names.is_same(was[name], text_of) then
      local found = setting.differences(name, was[name], settings[name], "in this call")
      check.fail("%s has results of other settings: %s. Move the file away, or pass another path", path,
        core.safe_text(table.concat(found, ", ")))
    end
  end
end

-- Returns the tensors in a checkpoint file; nil if it does not exist. A file of other settings or, without
-- `mix_numerics`, of another numerics version (whose bits may differ) is an error.
local function stored(path, settings, given, mix_numerics)
  if not core.file_exists(path) then return nil end
  local names, tensors, keys, values = core.load_tensors(path, "moonrank checkpoint")
  local was = {}
  for i, key in ipairs(keys) do was[key] = values[i] end
  compare(path, settings, was, given)
  if was.numerics ~= core.numerics() and not mix_numerics then
    check.fail("%s has results of numerics version '%s', and this program has '%s'. Move the file away, or pass "
      .. "mix_numerics = true", path, core.safe_text(was.numerics or "not recorded"), core.numerics())
  end
  local results = {}
  for i, name in ipairs(names) do results[name] = tensors[i] end
  return results
end

local check_arguments = option_names.arguments({ "settings", "table" }, { "compute", "function" })
local check_results = option_names.arguments{ "the result of compute", "table",
  expected = "a table of tensors by name: {name = tensor}" }

-- Returns the table that `compute` returned. Other entries than tensors by name are an error.
local function checked_results(results)
  check_results("mr.checkpoint", results)
  check.by_name("mr.checkpoint", "result", results, check.is_tensor, "a tensor")
  return results
end

local function texts_of(settings)
  local texts = {}
  for _, name in ipairs{ "format", "numerics", "checksum xxh64", "checksum of" } do
    if settings[name] ~= nil then
      check.fail("mr.checkpoint: a setting is named '%s', which is a reserved name. Choose another name", name)
    end
  end
  for name, value in pairs(settings) do
    texts[name] = setting.text("mr.checkpoint", name, value)
    check.utf8("mr.checkpoint", "the name of a setting", name)
    check.utf8("mr.checkpoint", ("the setting '%s'"):format(name), texts[name])
  end
  return texts
end

local checkpoint_options = option_names.declare("mr.CheckpointOptions", {
  { "mix_numerics", "boolean", default = false,
    help = "accept results of another numerics version, which may differ in their last digits" },
})

---Returns the tensors that `compute` returns, by name. The first call computes the tensors and
---stores them in the file `path` (safetensors; missing folders are made). Later calls read the
---file. The file is written whole or not at all. If Ctrl-C was pressed while `compute` ran, nothing
---is written and the error `interrupted` is raised, even if `compute` caught it, as mr.fit does.
---
---Settings are stored with the tensors; reserved names, such as `format`, are errors. A file with other
---settings, a file of another numerics version (unless `mix_numerics = true`), and a file that is
---not a checkpoint are errors; the file is not changed. Datasets, folds and ratings in the
---settings, such as `{seed = 1, data = fold}`, are compared by their fingerprints, and tables by
---their contents. A function in the settings is an error, because functions cannot be compared.
---@param path string
---@param settings table<string, any>   what the results depend on
---@param compute fun(): table<string, mr.Tensor>
---@param options? mr.CheckpointOptions
---@return table<string, mr.Tensor> results, boolean was_there  was_there: whether the file existed and was read
---Example:
---```lua
---local path = os.tmpname()
---os.remove(path)  -- an empty file is no checkpoint
---local function compute() return {scores = mr.ones(3)} end
---local first, was_there = mr.checkpoint(path, {seed = 1}, compute)
---local again, is_there = mr.checkpoint(path, {seed = 1}, compute)
---os.remove(path)
---was_there, is_there, again.scores   --> false, true, {1, 1, 1}  mr.Tensor {3} float32
---```
function M.checkpoint(path, settings, compute, options)
  check.path("mr.checkpoint", path)
  paths.check("mr.checkpoint", "new file", path)
  check_arguments("mr.checkpoint", settings, compute)
  check.by_name("mr.checkpoint", "setting", settings)
  local o = checkpoint_options:read("mr.checkpoint", options)
  local given = settings
  settings = texts_of(given)
  local results = stored(path, settings, given, o.mix_numerics)
  if results then return results, true end
  core.make_folder(path)
  local before = core.interrupts()
  results = checked_results(compute())
  -- `compute` may have caught Ctrl-C, as mr.fit does. Its results are then incomplete and must not be stored.
  if core.interrupts() > before then error("interrupted", 0) end
  local names, tensors, keys, values = check.names(results), {}, check.names(settings), {}
  for i, name in ipairs(names) do tensors[i] = results[name] end
  for i, key in ipairs(keys) do values[i] = settings[key] end
  core.save_tensors(path, "moonrank checkpoint 1", names, tensors, keys, values)
  return results, false
end

return M
