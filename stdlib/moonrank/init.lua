-- This is the table `mr` that `require "moonrank"` returns. Each of its modules is loaded when it is first used.
local M = require "moonrank.tensor"
local check = require "moonrank.check"

local core = require "moonrank.core"
M.version, M.numerics = core.version(), core.numerics()

-- Keeps the text of the running script, which studies record. The file is read now, because it may be edited while the
-- script runs.
for level = 2, math.huge do
  local info = debug.getinfo(level, "S")
  local path = info and info.what == "main" and info.source:match "^@(.*)"
  if path and not path:match "^stdlib/" then core.remember_source(path) end
  if not info then break end
end

-- Fields of `mr` that are whole modules (`modules`), and fields that are one function of a module (`functions`).
local modules = { "bounds", "data", "experiment", "losses", "metrics", "models", "optim", "plot", "schedule", "smooth",
  "stats" }
local functions = {
  gradcheck = "gradcheck",
  checkpoint = "checkpoint",
  args = "args",
  help = "help",
  evaluate = "evaluate",
  exit = "system.exit",
  load_tensors = "system.arrays",
  save_tensors = "system.arrays",
  threads = "system.threads",
  fit = "fit",
  clip_gradients = "fit.clip",
  compare = "compare",
  detect_anomaly = "fit.anomaly",
  profile = "profile",
  choice = "sweep.search.parts",
  range = "sweep.search.parts",
  loguniform = "sweep.search.parts",
  integer = "sweep.search.parts",
  when = "sweep.search.parts",
  seeds = "sweep.search.parts",
  sweep = "sweep",
  results = "results",
}

-- Loads a module of `mr`. After this, reading a name that the module does not have is an error, and so is a call of its
-- functions with too many arguments. The library's own code tests with rawget whether a name exists.
local function part(name)
  local module = setmetatable(require("moonrank." .. name), {
    __index = function(self, key) check.unknown("field of mr." .. name, key, check.names(self)) end,
  })
  return check.exact_all("mr." .. name .. ".", module)
end

local loaders = {}
for _, name in ipairs(modules) do loaders[name] = function() return part(name) end end
loaders.table = function() return check.exact("mr.table", require("moonrank.table").new) end
for name, module in pairs(functions) do
  loaders[name] = function() return check.exact("mr." .. name, require("moonrank." .. module)[name]) end
end

---Returns the sorted names of all fields of `mr`, also of modules that are not loaded yet. Tab
---completion uses them.
---@return string[]
---Example: `#mr.names() > 30   --> true`
function M.names()
  local names = {}
  for name in pairs(M) do names[#names + 1] = name end
  for name in pairs(loaders) do
    if rawget(M, name) == nil then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

check.exact_all("mr.", M)
for class, parts in pairs(require("moonrank.core").classes) do
  check.exact_all(class .. ":", parts.methods, parts.meta)
end

-- Returns what to write instead of a function name that other libraries use: a tensor method, or Moonrank's own name.
-- Returns nil if no such advice is known.
local function instead_of(name)
  local other = check.other_name("moonrank", name)
  if other then return other end
  local class = require("moonrank.core").classes["mr.Tensor"]
  return class.methods[name] and ("x:%s(...)"):format(name) or check.other_name("mr.Tensor", name)
end

return setmetatable(M, {
  __index = function(self, name)
    local load_it = loaders[name]
    if not load_it then
      local instead = instead_of(name)
      if instead then check.fail("unknown field of moonrank: '%s'; write %s", name, instead) end
      check.unknown("field of moonrank", name, self.names())
    end
    local value = load_it()
    rawset(self, name, value)
    return value
  end,
})
