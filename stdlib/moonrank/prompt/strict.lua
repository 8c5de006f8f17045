-- Makes the use of undeclared global variables an error in scripts and specs. In plain Lua, a misspelt name would be
-- nil.
local M = {}

-- True if Lua code uses a global variable. C functions may look for globals that do not exist.
local function from_script()
  local frame = debug.getinfo(3, "S")
  return frame and frame.what ~= "C"
end

local rules = {
  __index = function(_, name)
    if not from_script() then return nil end
    local check = require "moonrank.check"
    local known = {}
    for each in next, _G do known[#known + 1] = tostring(each) end
    local other = check.other_name("_G", name)
    if other then error(("undeclared global '%s'; write %s"):format(tostring(name), other), 2) end
    local near = check.nearest(tostring(name), known)
    error(("undeclared global '%s'%s"):format(tostring(name), near and (", did you mean '%s'?"):format(near) or ""), 2)
  end,
  __newindex = function(globals, name, value)
    if from_script() then
      error(("assignment to undeclared global '%s' (write `local` before its first use)"):format(tostring(name)), 2)
    end
    rawset(globals, name, value)
  end,
}

---From now on, reading or writing an undeclared global variable raises an error.
function M.on() setmetatable(_G, rules) end

-- Rules of the prompt, where undeclared globals may be read: Python's names of constants are errors, because they would
-- be nil.
local prompt_rules = {
  __index = function(_, name)
    local constant = (name == "True" or name == "False" or name == "None") and from_script()
    if not constant then return nil end
    error(("undeclared global '%s'; Lua has true, false and nil: write %s"):format(name,
      require("moonrank.check").other_name("_G", name)), 2)
  end,
}

---From now on, undeclared global variables may be read (as nil) and written again, as at the prompt.
---Only reading True, False or None is an error.
function M.off() setmetatable(_G, prompt_rules) end

return M
