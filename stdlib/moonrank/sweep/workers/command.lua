-- Makes the command line with which workers start a script again, and the checksum that detects changes.
local core = require "moonrank.core"

local M = {}

---Returns the command line that starts this script again as a worker, or nil and the reason why it cannot be started
---again. The REPL, strings of -e, specs and scripts from standard input cannot be started again, and neither can
---scripts of another program that loaded Moonrank as a module.
---@param threads integer  number of threads of a worker, unless the command line of this process has --threads
---@return string[]? words, string? why
function M.words(threads)
  if core.hosted then return nil, "only the program moonrank can start a script again, not another program" end
  local given = rawget(_G, "arg")
  if type(given) ~= "table" or not given[0] or not given[-1] then
    return nil, "only a script can be run by worker processes"
  end
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

---Returns the name of the file in which a function is defined, and the SHA-256 of the file's text. For code that is not
---in a file, it returns "the code typed" and the SHA-256 of the name of Lua's chunk, such as "=stdin", or of the code
---if the chunk has no name. If the file is missing, it returns the file's path and the SHA-256 of "@PATH".
---@return string name, string sum
function M.script_of(f)
  local source = debug.getinfo(f, "S").source
  local path = source:match "^@(.*)"
  local file <close> = path and core.is_file(path) and io.open(path, "rb") or nil
  if file then return path:match "[^/]*$", core.sha256(file:read "a") end
  return path or "the code typed", core.sha256(source)
end

return M
