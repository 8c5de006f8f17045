-- Reference values of losses and statistics from other software, read from field.json, a file in the folder that
-- contains the checkout. Values are in float64, and gradients are from automatic differentiation.
local json = dofile "tests/support/json.lua"
local test = require "moonrank.test"

local M = {}

local path = "../shared/golden/field.json"
local file = io.open(path)
local golden = file and file:close() and json.read(path)

---Adds a test that gets one group of the reference values. It is skipped if the file is not there.
---@param name string
---@param group string
---@param body fun(values: table)
function M.it(name, group, body)
  test.it(name, function()
    if not golden then return test.skip "field.json is not beside the project's folder" end
    body(golden[group])
  end)
end

return M
