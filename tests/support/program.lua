-- Helpers for tests that run the program `moonrank`: its path, and running commands with their output.
local M = {}

-- Returns the path of the program that runs this test, which is the parent process of a shell. Returns nil without
-- /proc.
local function running()
  local pipe = assert(io.popen("readlink /proc/$PPID/exe 2>/dev/null", "r"))
  local path = pipe:read "l"
  pipe:close()
  return path
end

---The program's path: that of the variable MOONRANK, else of the program that runs the spec.
---@type string?
M.moonrank = os.getenv "MOONRANK" or running()

---Runs a command; returns true if it succeeded, and all its output.
function M.run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return pipe:close() == true, text
end

function M.has_gnuplot() return (M.run "gnuplot --version") end

---Returns the folder of real data if it has a file or folder of this name, else nil.
function M.data_folder(name)
  local folder = os.getenv "MOONRANK_DATA" or "../shared/data"
  return require("moonrank.core").file_exists(folder .. "/" .. name) and folder or nil
end

function M.has_data(name) return M.data_folder(name) ~= nil end

return M
