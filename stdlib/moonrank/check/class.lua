-- Makes the classes of the standard library, and wraps functions so that surplus arguments raise errors.
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- Lua's own getmetatable does not return the metatables of tensors and lists
local M = {}

-- Loads the errors about wrong calls on demand, because most runs need none of them.
local function calls() return require "moonrank.check.calls" end

local inner = setmetatable({}, { __mode = "k" })  -- maps a wrapper that `exact` made to the wrapped function

local function passed(...) return ... end

---Wraps a function so that surplus arguments other than nil, which Lua would drop silently, raise an error, and errors
---name the function `name`. Functions in C and other values are returned unchanged.
---@param name string  name for messages; a method has a colon in it
---@param f any
---@param meta? table  metatable of the objects whose method it is; a call with a dot is then an error
---@return any
---Example: `require("moonrank.check.class").exact("f", function(x) return x end)(1, nil)   --> 1`
function M.exact(name, f, meta)
  if type(f) ~= "function" or inner[f] then return f end
  local info = debug.getinfo(f, "Su")
  if info.what == "C" then return f end
  local most, method = math.max(info.nparams, name:find(":", 1, true) and 1 or 0), meta and name:match ":(.*)"
  if info.isvararg then most = math.huge end
  local function wrapper(...)
    if select("#", ...) > most or method and getmetatable((...)) ~= meta then
      calls().refuse(name, f, most, meta, ...)
    end
    return passed(f(...))  -- a tail call would remove the stack frame by which core errors find the public name
  end
  inner[wrapper], core.public_names[wrapper] = f, name
  return wrapper
end

---Returns the original function of a wrapper that `exact` made; any other value is returned unchanged.
---@param f any
function M.inner(f) return inner[f] or f end

---Replaces all functions of a table, also later ones, by wrappers that raise an error for surplus arguments (`exact`),
---and returns the table. Metamethods except `__call` stay, because Lua passes them surplus arguments.
---@param prefix string  prefix of names in messages: "mr.Table:" or "mr.data."
---@param functions table
---@param class? table  metatable of the objects whose methods these are
---@return table  the table `functions`
function M.exact_all(prefix, functions, class)
  local function checked(key, value)
    if type(key) ~= "string" or key:match "^__" and key ~= "__call" then return M.inner(value) end
    if key == "__call" then return M.exact(prefix:sub(1, -2), value) end
    return M.exact(prefix .. key, value, class)
  end
  for key, value in next, functions do functions[key] = checked(key, value) end
  local meta = getmetatable(functions) or {}
  meta.__newindex = function(self, key, value) rawset(self, key, checked(key, value)) end
  return setmetatable(functions, meta)
end

---Makes and returns a class of the standard library: a metatable whose objects are made by setmetatable(t, class).
---Methods are added to it as fields. A method `get_NAME` computes the field NAME. Reading an unknown field of an object
---is an error. A surplus argument of a method is an error, too, except in internal classes such as "mr.sweep.Store".
---@param name string  "mr.Fold"
function M.class(name)
  local class = { __name = name }
  if not name:match "^mr%.%l+%." then M.exact_all(name .. ":", class, class) end
  class.__index = function(self, key)
    local found = class[key]
    if found ~= nil then return found end
    local getter = class["get_" .. tostring(key)]
    if getter then return getter(self) end
    calls().no_field(name, key, calls().fields_of(self, class))
  end
  return class
end

return M
