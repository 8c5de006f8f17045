-- Says why gradient-boosted trees (XGBoost) cannot be used here, and has the made-up queries of
-- tests/golden/trees.json.
local core = require "moonrank.core"
local mr = require "moonrank"
local test = require "moonrank.test"
local json = dofile("tests/support/json.lua")

local M = { golden = json.read("tests/golden/trees.json") }

---Why trees cannot be grown here, or nil.
function M.missing()
  local ok, message = pcall(core.xgboost_version)
  return not ok and require("moonrank.check").reason(message) or nil
end

---A test that is skipped where trees cannot be grown.
function M.it(name, body)
  test.it(name, function()
    if M.missing() then return test.skip(M.missing()) end
    body()
  end)
end

---A part of the golden data, "train" or "valid": lists of 8 rows, 4 features, some missing.
function M.part(name, threshold)
  local grades, lists, features = M.golden[name].grades, {}, {}
  for i, grade in ipairs(grades) do
    local l = (i - 1) // 8 + 1
    lists[l] = lists[l] or {}
    table.insert(lists[l], threshold and (grade >= threshold and 1 or 0) or grade)
    features[i] = {}
    for c = 1, 4 do
      local x = M.golden[name].features[4 * (i - 1) + c]
      features[i][c] = type(x) == "number" and x or 0 / 0
    end
  end
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features), missing = true }
end

---Scores of all rows.
function M.scores(model, data) return model(data:batches{ size = data.count }()) end

return M
