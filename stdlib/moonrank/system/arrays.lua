-- Arrays in files that other programs read and write: safetensors and NumPy's .npy and .npz.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local longest <const> = 1000  -- of a tensor's name, in bytes

-- the metadata entry of safetensors files that save_tensors writes
local format <const> = "moonrank tensors 1"

local endings <const> = "'.safetensors', '.npz' (several tensors) or '.npy' (one tensor)"

-- Returns the ending of a path: "safetensors", "npz" or "npy".
local function ending_of(where, path)
  if type(path) ~= "string" then check.fail("%s: path is a %s, expected a text", where, check.kind(path)) end
  local ending = path:match "%.(%w+)$"
  if ending == "safetensors" or ending == "npz" or ending == "npy" then return ending end
  local pickled = ending == "pt" or ending == "pth" or ending == "pkl" or ending == "pickle"
  check.fail("%s: the file is '%s', expected a name that ends in %s%s", where, core.safe_text(path), endings,
    pickled and ". Files of pickle are not read, because reading them would run code" or "")
end

local function by_name(names, tensors)
  local out = {}
  for i, name in ipairs(names) do out[name] = tensors[i] end
  return out
end

---Reads tensors from a file of another program: safetensors, .npz or .npy. No file runs code: arrays of
---Python objects are an error. Integers and booleans become int64, and floating-point numbers of 16
---bits become float32.
---@param path string
---@return table<string, mr.Tensor>|mr.Tensor  tensors by name; from .npy the tensor itself
---Example:
---local path = os.tmpname() .. ".npz"
---mr.save_tensors(path, {scores = mr.tensor{3, 2, 1}})
---mr.load_tensors(path).scores   --> {3, 2, 1}  mr.Tensor {3} float32
function M.load_tensors(path)
  local ending = ending_of("mr.load_tensors", path)
  if ending == "npy" then return core.read_npy(path) end
  local names, tensors
  if ending == "npz" then names, tensors = core.read_npz(path) else names, tensors = core.load_tensors(path, "") end
  return by_name(names, tensors)
end

---Writes tensors to a file for other programs: safetensors, .npz (not compressed) or .npy. The file is
---written as a whole or not at all. An existing file is replaced only if it has the same format.
---@param path string
---@param tensors table<string, mr.Tensor>|mr.Tensor  tensors by name; for .npy one tensor
---Example:
---local path = os.tmpname() .. ".npy"
---mr.save_tensors(path, mr.tensor{{1, 2}, {3, 4}})
---mr.load_tensors(path):size(2)   --> 2
function M.save_tensors(path, tensors)
  local ending = ending_of("mr.save_tensors", path)
  if ending == "npy" then
    if not check.is_tensor(tensors) then
      check.fail("mr.save_tensors: an .npy file has one tensor, found a %s. Several tensors fit into .npz or "
        .. ".safetensors", check.kind(tensors))
    end
    return core.write_npy(path, tensors)
  end
  if type(tensors) ~= "table" or getmetatable(tensors) then
    check.fail("mr.save_tensors: tensors is a %s, expected a table of tensors by name: {scores = scores}",
      check.kind(tensors))
  end
  local names, list = {}, {}
  for name, each in pairs(tensors) do
    if type(name) ~= "string" or not check.is_tensor(each) then
      check.fail("mr.save_tensors: the table has a %s at the key %s, expected tensors by name", check.kind(each),
        core.safe_text(tostring(name)))
    end
  end
  if next(tensors) == nil then check.fail("mr.save_tensors: tensors is empty, expected one or more tensors") end
  for i, name in ipairs(check.names(tensors)) do
    check.utf8("mr.save_tensors", "name of a tensor", name)
    if #name > longest then
      check.fail("mr.save_tensors: a name has %d bytes, expected at most %d", #name, longest)
    end
    local as_path = "/" .. name .. "/"
    if name:find "[%z\1-\31\\]" or as_path:find "//" or as_path:find "/%.%.?/" then
      check.fail("mr.save_tensors: the name is '%s', expected one without control characters, '\\', and parts that "
        .. "are empty, '.' or '..'", core.safe_text(name))
    end
    names[i], list[i] = name, tensors[name]
  end
  if ending == "npz" then return core.write_npz(path, names, list) end
  core.save_tensors(path, format, names, list, {}, {})
end

return M
