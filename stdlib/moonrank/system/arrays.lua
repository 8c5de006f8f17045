-- Saves and loads arrays in files that other programs read and write: safetensors and NumPy's .npy and .npz.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments

local M = {}

local longest <const> = 1000  -- largest length of a tensor's name, in bytes

-- name of the file format in the metadata of safetensors files that save_tensors writes
local format <const> = "moonrank tensors 1"

local endings <const> = { safetensors = true, npz = true, npy = true }

local check_path = arguments{ "path", "string", accept = function(path) return endings[path:match "%.(%w+)$"] end,
  expected = "a text that ends in '.safetensors', '.npz' (several tensors) or '.npy' (one tensor). Files of pickle are "
    .. "not read, because reading them would run code" }
local check_array = arguments{ "tensors", "mr.Tensor", class = "mr.Tensor",
  expected = "one tensor for an .npy file. Several tensors fit into .npz or .safetensors" }
local check_tensors = arguments{ "tensors", "table", accept = function(value) return not getmetatable(value) end,
  expected = "a table of tensors by name: {scores = scores}" }

-- Returns the ending of a path: "safetensors", "npz" or "npy".
local function ending_of(where, path) return check_path(where, path):match "%.(%w+)$" end

local function by_name(names, tensors)
  local out = {}
  for i, name in ipairs(names) do out[name] = tensors[i] end
  return out
end

---Reads tensors from a file of another program: safetensors, .npz or .npy. No file runs code: arrays of
---Python objects are an error. Integers and booleans become int64, and floating-point numbers of 16
---bits become float32. The tensors are on the CPU.
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

---Writes tensors to a file for other programs: .safetensors, .npz (not compressed) or .npy. The
---file is written as a whole or not at all. An existing file is replaced only if it is empty, or in
---the same format: an array of NumPy for .npy, any zip file for .npz, and a file that
---mr.save_tensors wrote for .safetensors. Other existing files are errors.
---@param path string
---@param tensors table<string, mr.Tensor>|mr.Tensor  tensors by name; for .npy one tensor
---Example:
---local path = os.tmpname() .. ".npy"
---mr.save_tensors(path, mr.tensor{{1, 2}, {3, 4}})
---mr.load_tensors(path):size(2)   --> 2
function M.save_tensors(path, tensors)
  local ending = ending_of("mr.save_tensors", path)
  if ending == "npy" then
    check_array("mr.save_tensors", tensors)
    return core.write_npy(path, tensors)
  end
  check_tensors("mr.save_tensors", tensors)
  check.by_name("mr.save_tensors", "tensor", tensors, check.is_tensor, "a tensor")
  local names, list = {}, {}
  for i, name in ipairs(check.not_empty("mr.save_tensors", "tensors", check.names(tensors), "tensor")) do
    check.utf8("mr.save_tensors", "name of a tensor", name)
    check.expect(#name <= longest, "mr.save_tensors", "the number of bytes of a name", #name, "at most %d", longest)
    local as_path = "/" .. name .. "/"
    local is_wrong = name:find "[%z\1-\31\\]" or as_path:find "//" or as_path:find "/%.%.?/"
    check.expect(not is_wrong, "mr.save_tensors", "the name of a tensor", name,
      "no control characters, no '\\', and no parts that are empty, '.' or '..'")
    names[i], list[i] = name, tensors[name]
  end
  if ending == "npz" then return core.write_npz(path, names, list) end
  core.save_tensors(path, format, names, list, {}, {})
end

return M
