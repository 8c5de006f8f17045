-- For specs that run the program: its path, and commands with what they print.
local M = {}

M.moonrank = os.getenv "MOONRANK"

---Runs a command; returns true if it succeeded, and all its output.
function M.run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

function M.has_gnuplot() return (M.run "gnuplot --version") end

---True if real data of this name exist.
function M.has_data(name)
  return require("moonrank.core").file_exists((os.getenv "MOONRANK_DATA" or "../shared/data") .. "/" .. name)
end

return M
