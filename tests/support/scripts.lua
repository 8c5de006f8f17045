-- Helpers for tests of scripts that run as programs. Each test has a temporary folder, and is skipped if something that
-- the script needs is missing.
local test = require "moonrank.test"
local program, sweeps = dofile "tests/support/program.lua", dofile "tests/support/sweeps.lua"

local M = { root = sweeps.capture("pwd"):match "[^\n]+" }

local missing = {
  gnuplot = function() return not program.has_gnuplot() and "no gnuplot" end,
  xgboost = function()
    local there, why = pcall(require("moonrank.core").xgboost_version)
    return not there and why
  end,
}

---A test that gets a folder.
---@param name string
---@param needs string[]            of gnuplot, xgboost
---@param body fun(folder: string)
---@param script? string            text of a sweep.lua in that folder
function M.it(name, needs, body, script)
  test.it(name, function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    for _, need in ipairs(needs) do
      local why = missing[need]()
      if why then return test.skip(why) end
    end
    body(sweeps.new_folder(script))
  end)
end

---Runs a script below scripts/, which must succeed; returns its output and errors.
---@param folder string
---@param path string     "thesis/all.lua"
---@param words? string
---@param before? string  of the command, as a variable of the environment
---@return string out
---@return string err
function M.run(folder, path, words, before)
  local status, out, err = sweeps.run(folder, ("%s/scripts/%s"):format(M.root, path), words, before)
  test.equal(status, 0, err .. out)
  return out, err
end

return M
