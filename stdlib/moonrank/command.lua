-- Commands of the program in Lua, such as `moonrank eval`: a module's function `run` gets the words after the name.
local exit = require("moonrank.system.exit").exit

local M = {}

local modules = { eval = "moonrank.command.eval", kernel = "moonrank.command.kernel", new = "moonrank.command.new",
  serve = "moonrank.command.serve" }

---Runs the command that the global table `arg` has: its name at index 0 and its words from index 1. An error ends the
---program with one line and status 1, an error in the words with status 2.
function M.run()
  local words = rawget(_G, "arg")
  local ran, problem = pcall(require(modules[words[0]]).run, table.move(words, 1, #words, 1, {}))
  if ran then return end
  if type(problem) ~= "string" or problem == "interrupted" then error(problem, 0) end
  local text = problem:gsub("^mr%.[%w_.:]+: ", ""):gsub("^%l+_[%l_]+: ", "")
  exit(1, ("%s: %s"):format(words[0], text))
end

return M
