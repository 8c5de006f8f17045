-- Tests that values which print as text can also be exported: best trials, statistics, batches, folds, statistics for
-- bounds.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, raises = test.it, test.equal, test.raises

local function swept(o)
  o.store, o.workers, o.progress = files.new_path(), 0, false
  return mr.sweep(o):best()
end

it("results:best() exports a column per parameter and number", function()
  local best = swept{ name = "t", space = { lr = mr.choice{ 0.5, 2 } }, metric = "score", direction = "maximize",
    run = function(trial) return { score = trial.lr * 3, other = 1 } end }
  local head, line = best:to_csv():match "^([^\n]+)\n([^\n]+)\n$"
  local row, at = {}, 0
  for value in (line .. ","):gmatch "([^,]*)," do
    at = at + 1
    row[#row + 1] = value
  end
  local by_name, c = {}, 0
  for name in head:gmatch "[^,]+" do
    c = c + 1
    by_name[name] = row[c]
  end
  equal({ by_name["params.lr"], by_name["numbers.score"], by_name.value, by_name.number },
    { "2", "6", "6", tostring(best.number) })
  test.check(best:to_json():find('"params.lr":2', 1, true), best:to_json())
  test.check(best:to_latex():find "toprule", "booktabs")
end)

it("folds, results of mr.stats, batches and a bound's statistics export CSV, JSON and tables", function()
  local fold = mr.data.synthetic{ users = 30, items = 90, seed = 2 }:binarize(4):folds{ k = 3 }[1]
  equal(fold:to_csv():match "\ntest,(%d+),(%d+)", tostring(fold.test.count))
  equal(#fold:table().rows, 3)
  equal(mr.stats.paired_t(mr.tensor{ 1, 2, 4 }, mr.tensor{ 0, 1, 1 }):to_csv():match "^df,", "df,")
  local batch = fold.train:batches{ size = 3 }()
  test.check(batch:to_csv():find("3 lists", 1, true), batch:to_csv())
  equal(batch.row_users:numel(), batch.lists.rows)
  equal(batch.features, nil)
  local told
  mr.bounds.define("spec_record", function(score, stats)
    told = told or stats
    return score - stats.expectation
  end)
  mr.losses.ndcg{ bound = "spec_record" }:mean(mr.zeros(5), mr.lists{ { 1, 0, 0 }, { 1, 0 } })
  equal(told:table().columns[2], "n")
  equal({ told:table().rows[1][2], told:table().rows[2][2] }, { 3.0, 2.0 })
  test.check(told:to_json():find('"expectation":', 1, true) and told:to_csv():find "\n2,2," ~= nil, told:to_csv())
end)

it("mr.evaluate's means raise an error for other metrics, and are a valid result of a trial", function()
  local e = mr.evaluate(mr.tensor{ 3, 2, 1 }, mr.lists{ { 0, 1, 0 } }, { "ndcg@10", "map" })
  equal(e.mean.map, e.mean.ap)
  raises(function() return e.mean.ndgc end, "'ndgc'", "ndcg@10")
  raises(function() return e.counted["ndcg@5"] end, "'ndcg@5'", "metric")
  raises(function() mr.evaluate(mr.zeros(2), mr.lists{ { 0, 1 } }, { "ndcg@10", "ndcg@010" }) end,
    "mr.evaluate", "'ndcg@10'")
  local best = swept{ name = "m", space = { x = mr.choice{ 1 } }, metric = "ap", run = function() return e.mean end }
  equal(best.numbers["ndcg@10"], e.mean["ndcg@10"])
end)

it("mr.results escapes control characters in names from a store", function()
  local path = files.new_path()
  mr.sweep{ name = "t", store = path, workers = 0, progress = false, space = { lr = mr.choice{ 0.5 } },
    metric = "score", direction = "maximize", run = function() return { score = 1, other = 2 } end }
  local store = require("moonrank.sweep.store").open(path, "write")
  store:columns([[UPDATE trials SET params = '{"lr\u001b[2J\u202e": 0.5}']])
  store:columns("UPDATE numbers SET name = 'n' || char(27) || ']0;x' || char(7) WHERE name = 'other'")
  store:close()
  local results = mr.results(path, "t")
  local printed = tostring(results:trials()) .. require("moonrank.results").text(path)
  local text = tostring(results:best()) .. printed:gsub("\n", "")
  for _, part in ipairs{ "lr\\x1b[2J\\u{202e} = 0.5", "n\\x1b]0;x\\x07 = 2" } do
    test.check(text:find(part, 1, true), text)
  end
  test.check(not text:find "%c" and not text:find("\u{202e}", 1, true), text)
end)
