-- The command line that starts this script again, for workers; and the checksum of its text, to detect changes.
local core = require "moonrank.core"

local M = {}

---Returns the command line of a worker, or nil and the reason why there is none. The REPL, strings
---of -e, specs and standard input cannot be run again.
---@param threads integer   of each, unless this command line says how many
---@return string[]? words, string? why
function M.words(threads)
  local given = rawget(_G, "arg")
  if type(given) ~= "table" or not given[0] or not given[-1] then return nil, "only a script can be started again, this is none" end
  if given[0] == "-" then return nil, "a script from standard input cannot be started again" end
  local first = 0
  while given[first - 1] do first = first - 1 end
  local words, threads_given = {}, false
  for i = first, -1 do
    words[#words + 1] = given[i]
    if given[i]:match "^%-%-threads" then threads_given = true end
  end
  if not threads_given then
    words[#words + 1] = "--threads"
    words[#words + 1] = ("%d"):format(threads)
  end
  for i = 0, #given do words[#words + 1] = given[i] end
  return words
end

---Returns the file of a function and the SHA-256 of the file's text. Code that is in no file gives
---the SHA-256 of the code.
---@param f function
---@return string name, string sum
function M.script_of(f)
  local source = debug.getinfo(f, "S").source
  local path = source:match "^@(.*)"
  if path then
    local file = core.is_file(path) and io.open(path, "rb")
    if file then
      local text = file:read "a"
      file:close()
      return path:match "[^/]*$", core.sha256(text)
    end
  end
  return path or "the code typed", core.sha256(source)
end

return M
