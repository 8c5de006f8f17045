-- Makes the text of `moonrank --version`: versions of the program and of Lua, and the devices.
local core = require "moonrank.core"
local check = require "moonrank.check"
local M = {}

---Returns the text of `moonrank --version`: the versions of the program and of Lua, the numerics version, the number of
---threads, the instruction set, and which devices and libraries are available.
---Example: `require "moonrank.system.about".text():match "^%a+"   --> moonrank`
function M.text()
  local lines = { "moonrank " .. core.version(), _VERSION }
  lines[#lines + 1] = "numerics: " .. core.numerics()
  lines[#lines + 1] = ("cpu: %d threads%s"):format(core.threads(), core.simd and ", " .. core.simd() or "")
  if core.has_cuda() then lines[#lines + 1] = "cuda: " .. core.cuda()
  else lines[#lines + 1] = "cuda: not available: " .. core.cuda() end
  local loaded, mpi = pcall(core.mpi_library)
  lines[#lines + 1] = "mpi: " .. (loaded and (mpi or "not built in") or "not available: " .. mpi)
  local there, xgboost = pcall(core.xgboost_version)
  lines[#lines + 1] = "xgboost: " .. (there and xgboost or "not available: " .. check.reason(xgboost))
  return table.concat(lines, "\n")
end

return M
