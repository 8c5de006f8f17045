-- The error about a script that was run as a program, but is a module: it writes nothing and returns a table or a
-- function to other scripts.
local core = require "moonrank.core"

local M = {}

-- True if the text of a Lua file looks like that of a program: it returns nothing, reads its command line, or finds its
-- folder by the name of the script that runs (arg[0]), which is another file's name in a module.
local function is_program(text)
  text = "\n" .. text
  return not text:find "\nreturn%f[%W]" or text:find "%f[%w_]arg%[" ~= nil or text:find "\nlocal args = " ~= nil
end

-- Returns the names of the other Lua files in a folder that look like programs, in alphabetical order.
local function programs_in(folder, own)
  local names, found = core.list_folder(folder == "" and "." or folder), {}
  table.sort(names)
  for _, name in ipairs(names) do
    local file = name ~= own and name:find "%.lua$" and not name:find "_spec%.lua$" and io.open(folder .. name, "r")
    if file then
      if is_program(file:read "a" or "") then found[#found + 1] = name end
      file:close()
    end
  end
  return found
end

-- Largest number of programs that the error names.
local most <const> = 12

---Ends the program with status 2 and a line that says that `script` is a module, with names of programs in its folder.
---@param script string  path
function M.refuse(script)
  local folder, own = script:match "^(.*/)([^/]*)$"
  folder, own = folder or "", own or script
  local found, more = programs_in(folder, own), ""
  if #found > 0 then
    local rest = #found - most
    more = (". Programs in this folder: %s%s"):format(table.concat(found, ", ", 1, math.min(most, #found)),
      rest > 0 and (" and %d more"):format(rest) or "")
  end
  error(core.exit(2, ("%s is a module of other scripts, not a program: it prints nothing and returns a value%s"):format(
    script, more)), 0)
end

return M
