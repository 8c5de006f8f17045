-- Long experiments resume: the results of a part are kept in a file and read back when the script runs again.
local core = require "moonrank.core"
local check = require "moonrank.check"
local fingerprint = require "moonrank.data.fingerprint"

local M = {}

-- Raises where a file's texts are of other settings: what is named is the first that differs, by name.
local function compare(path, settings, was)
  local names = {}
  for name in pairs(settings) do names[name] = true end
  for name in pairs(was) do names[name] = name ~= "format" and name ~= "numerics" or nil end
  for _, name in ipairs(check.names(names)) do
    if was[name] ~= settings[name] then
      check.fail("%s holds results for %s = %s, not %s: move it away or name another folder", path, core.safe_text(name),
        core.safe_text(tostring(was[name])), tostring(settings[name]))
    end
  end
end

-- The stored tensors, or nil where there is no file; an error where they belong to other settings, or are of other numerics.
local function stored(path, settings, mix_numerics)
  if not core.file_exists(path) then return nil end
  local names, tensors, keys, values = core.load_tensors(path, "moonrank checkpoint")
  local was = {}
  for i, key in ipairs(keys) do was[key] = values[i] end
  compare(path, settings, was)
  if was.numerics ~= core.numerics() and not mix_numerics then
    check.fail("%s holds results of the numerics '%s', those of this program are '%s'\n(move it away; mix_numerics = true takes it)", path,
      core.safe_text(was.numerics or "not recorded"), core.numerics())
  end
  local results = {}
  for i, name in ipairs(names) do results[name] = tensors[i] end
  return results
end

-- Settings as texts.
local function texts_of(settings)
  local texts = {}
  for _, name in ipairs{ "format", "numerics", "checksum xxh64", "checksum of" } do
    if settings[name] ~= nil then
      check.fail("mr.checkpoint: a setting is named '%s', which the file says itself: take another name", name)
    end
  end
  for name, value in pairs(settings) do texts[name] = fingerprint.of(value) or tostring(value) end
  return texts
end

---The tensors that `compute` returns, by name: computed the first time and kept in the file `path` (safetensors; missing folders are made),
---read from there afterwards. The file is written whole or not at all, so an interrupted run leaves none. Settings (any name but `format` and
---`numerics`) are kept beside them; a file with other settings, of other numerics (unless they may be mixed), or of another kind, is an error
---and is not changed. Datasets, folds and ratings among them are compared by their fingerprints: `{seed = 1, data = fold}`.
---@param path string
---@param settings table<string, any>   what the results depend on
---@param compute fun(): table<string, mr.Tensor>
---@param options? { mix_numerics: boolean }  take results of other numerics, which may differ in their last digits (default false)
---@return table<string, mr.Tensor> results, boolean was_there
function M.checkpoint(path, settings, compute, options)
  local o = check.options("mr.checkpoint", options, { mix_numerics = false })
  settings = texts_of(settings)
  local results = stored(path, settings, o.mix_numerics)
  if results then return results, true end
  core.make_folder(path)
  results = compute()
  local names, tensors, keys, values = check.names(results), {}, check.names(settings), {}
  for i, name in ipairs(names) do tensors[i] = results[name] end
  for i, key in ipairs(keys) do values[i] = settings[key] end
  core.save_tensors(path, "moonrank checkpoint 1", names, tensors, keys, values)
  return results, false
end

return M
