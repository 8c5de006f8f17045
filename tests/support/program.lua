-- For specs that run the program: its path, and commands with what they print.
local M = {}

M.moonrank = os.getenv "MOONRANK"

---Whether a command ended well, and all that it printed.
function M.run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

function M.has_gnuplot() return (M.run "gnuplot --version") end

---Whether real data of this name is there.
function M.has_data(name)
  return require("moonrank.core").file_exists((os.getenv "MOONRANK_DATA" or "../shared/data") .. "/" .. name)
end

return M
