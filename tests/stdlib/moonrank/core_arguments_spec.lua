-- Tests arguments of the native core that only scripts may pass, not the library: each must raise one error with a
-- message.
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal, raises = test.it, test.check, test.equal, test.raises

local long = ("x"):rep(300)

it("core refuses file names that are empty or too long", function()
  equal(core.file_exists(long), false)
  raises(function() core.letor_folds(long) end, "no such folder")
  raises(function() core.open_database("", "write") end, "path", "empty")
end)

it("core shows errors about texts with a zero byte in full", function()
  local mr = require "moonrank"
  local calls = {
    function() core.tensor({ 1 }, "int\0eger", "cpu") end, function() core.full({ 1 }, 0, "float32", "c\0uda") end,
    function() mr.ones(2):to "fl\0oat" end,
    function() core.read_ratings({ "x" }, "user", "item", "rating", true, "", true, true, "\0;", "error") end,
    function() core.read_letor("x", 0, false, "mis\0sing", false) end,
    function() core.cat({ mr.ones(2), ["di\0m"] = 1 }, 1) end,
    function() core.lists({ 2 }, mr.ones(2), {}, { ["o\0dd"] = 1 }) end,
    function() mr.metrics.rr{ ties = "wo\0rst" } end,
  }
  for i, call in ipairs(calls) do
    local ok, message = pcall(call)
    local shown = message:find("\\x00", 1, true) or message:find("\0", 1, true)
    check(not ok and shown, ("call %d: %s"):format(i, tostring(message)))
    check(message:find "expected" or message:find "there are", message)
  end
end)

it("core.nearest_name skips names that are too long to be a typing error", function()
  local other = ("y"):rep(200000)
  equal(core.nearest_name(("x"):rep(200000), { other, "x" }), nil)
  equal(core.nearest_name("lamda", { other, "lambda" }), "lambda")
end)

it("core refuses counts that do not fit in memory", function()
  raises(function() core.permutation(1 << 60, 1, "a", 0) end, "permutation", "{1152921504606846976}")
  local folder = sweeps.new_folder()
  local database = core.open_database(folder .. "/a.db", "write")
  for _, count in ipairs{ -1, 1 << 53 } do
    raises(function() database:run("create table a(x)", {}, count) end, tostring(count), "250000")
  end
  database:close()
end)

it("core regression functions refuse a share of neighbours outside 0 to 1", function()
  local mr = require "moonrank"
  local x = mr.tensor({ 1, 2, 3, 4, 5, 6 }, { dtype = "float64" })
  for _, nearest in ipairs{ -0.5, 1.5, 2 ^ 53 + 1, 1 / 0, 0 / 0 } do
    raises(function() core.regression_bandwidth(x, x, 1, "cv", nearest, 0.1) end, "'nearest'", "'regression_bandwidth'")
    raises(function() core.kernel_regression(x, x, x, 1.0, 1, nearest) end, "'nearest'", "'kernel_regression'")
  end
end)

it("core.tree_data refuses an impossible number of threads", function()
  local grows, why = pcall(core.xgboost_version)
  if not grows then return test.skip(why) end
  local x = require "moonrank".ones(2, 2)
  for _, threads in ipairs{ -1, 4096, 1 << 40 } do
    raises(function() core.tree_data(x, nil, threads) end, tostring(threads), "1024")
  end
end)
