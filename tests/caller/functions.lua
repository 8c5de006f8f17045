-- Functions that the random caller (a fuzzer) calls: those of the native core, and methods and fields of its classes,
-- with the types of their arguments and results.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class caller.Function
---@field name string      "core.add", "mr.Tensor:add", "mr.Tensor.dims"
---@field call function
---@field types string[]   of arguments
---@field names string[]   of arguments
---@field needs integer    what must have worked before

-- Functions that the random caller must not call, with the reason.
M.left_out = {
  ["core.start_worker"] = "starts programs", ["core.signal_process"] = "stops programs",
  ["core.gnuplot"] = "runs a program's script",
  ["core.how_it_ended"] = "waits for a program", ["core.wait_for"] = "waits",
  ["core.worker_end"] = "takes over a worker's descriptors",
  ["core.cluster_join"] = "needs a launcher", ["core.cluster_send"] = "needs a launcher",
  ["core.cluster_receive"] = "waits", ["core.cluster_lose"] = "needs a launcher",
  ["core.defer_interrupt"] = "Ctrl-C has to end the caller", ["core.interrupted"] = "takes Ctrl-C from the caller",
  ["core.threads"] = "starts as many as it is told",
  ["core.device"] = "later calls would differ where there is a GPU",
  ["core.detect_anomalies"] = "all later errors would be of one kind",
  ["core.http_server"] = "listens on a port", ["mr.HttpServer"] = "listens on a port",
  ["mr.Channel"] = "is of workers", ["mr.RunningProfile:stop"] = "is of a scope",
}

-- Functions that the random caller calls, but that cannot succeed in its process, with the reason.
M.fail_here = {
  ["core.begin_capture"] = "needs a GPU", ["core.end_capture"] = "needs a GPU", ["mr.Capture:run"] = "needs a GPU",
  ["core.of_first"] = "needs a launcher", ["core.same_parameters"] = "needs a launcher",
  ["core.sum_gradients"] = "needs a launcher",
}

local function left_out(owner, name) return M.left_out[name] or M.left_out[owner] end

-- Adds a function to the list of functions to call, if it has a description of its arguments.
local function add(list, owner, name, f, is_field)
  local row = core.describe(f)
  if not row or left_out(owner, name) then return end
  local types, names = {}, {}
  for _, kind in ipairs(row.types) do
    if kind == "->" then break end
    types[#types + 1] = kind
  end
  for argument in row.arguments:gmatch "[^,%s]+" do names[#names + 1] = argument:gsub("%?$", "") end
  list[#list + 1] = { name = name, call = f, types = types, names = is_field and { "self" } or names }
end

---All functions, sorted by name.
---@return caller.Function[]
function M.all()
  local list = {}
  for name, f in pairs(core) do
    if type(f) == "function" then add(list, "core", "core." .. name, f) end
  end
  for class, parts in pairs(core.classes) do
    for name, f in pairs(parts.methods) do add(list, class, class .. ":" .. name, f) end
    for name, f in pairs(parts.getters) do
      if name ~= "[]" then add(list, class, class .. "." .. name, f, true) end
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

---The classes that some function takes.
---@param list caller.Function[]
---@return string[]
function M.classes(list)
  local seen = {}
  for _, each in ipairs(list) do
    for _, kind in ipairs(each.types) do
      local class = kind:match "^mr%.%a+"
      if class then seen[class] = true end
    end
  end
  return check.names(seen)
end

return M
