-- Tests mr.data.comparisons and mr.data.item_features: files, joins, training and error messages.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function comparisons(text, options) return mr.data.comparisons(files.written(text), options) end
local function features(text, options) return mr.data.item_features(files.written(text), options) end

describe("mr.data.comparisons", function()
  it("reads lists of two rows with winners by id, by side or as a tie", function()
    local set = comparisons 'item_b,winner,item_a,note\r\n"q, r",q,q,1\ny,b,"q, r",\ny,tie,q,\nq,a,a,\na,a,q,\n'
    equal(set.ids.items, { "q", "q, r", "y", "a" })
    equal(set.items:totable(), { 1, 2, 2, 3, 1, 3, 4, 1, 1, 4 })
    equal(set.lists.relevance:totable(), { 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0 })
    equal(set.lists.sizes:totable(), { 2, 2, 2, 2, 2 })
    local columns = { a = "left", b = "right", winner = "won" }
    local numbers = comparisons("left,right,won\n10,9,9\n-1,10,a\n", { columns = columns })
    equal(numbers.ids.items, { "-1", "9", "10" })
    equal(numbers.items:totable(), { 3, 2, 1, 3 })
  end)

  it("trains pairwise models after item features are joined", function()
    local rows, wins = {}, { "item_a,item_b,winner" }
    local x = mr.normal({ 300, 3 }, { seed = 4 }):totable()
    local function worth(i) return 2 * x[i][1] - x[i][2] end
    for i = 1, 300 do rows[i] = ("face%d,%.6f,%.6f,%.6f"):format(i, table.unpack(x[i])) end
    for i = 1, 299 do wins[i + 1] = ("face%d,face%d,%s"):format(i, i + 1, worth(i) > worth(i + 1) and "a" or "b") end
    local set = features(table.concat(rows, "\n")):join(comparisons(table.concat(wins, "\n") .. "\n"))
    equal(set.features:shape(), { 598, 3 })
    near(set.features[4]:totable()[2], x[3][2], 1e-6)
    local train, tested = set:split{ share = 0.3, seed = 1 }
    local solved = mr.models.rank_logistic_regression{ train = train, alpha = 0.1 }
    local scores = require("moonrank.fit").scores
    check(mr.stats.pairwise_accuracy(scores(solved, tested), tested.lists) > 0.95)
    local model = mr.models.direct_ranker{ inputs = 3, hidden = { 8 } }
    mr.fit{ model = model, loss = mr.losses.ranknet{}, train = train, epochs = 40, progress = false,
      optimizer = mr.optim.adam{ lr = 0.02 } }
    check(mr.stats.pairwise_accuracy(scores(model, tested), tested.lists) > 0.9)
    near(mr.evaluate(scores(model, tested), tested.lists, { "auc" }).mean.auc,
      mr.stats.pairwise_accuracy(scores(model, tested), tested.lists), 1e-12)
  end)

  it("names the row and the value of a mistake", function()
    raises(function() comparisons "item_a,item_b,winner\nx,y,z\n" end, "1", "'z'")
    raises(function() comparisons "item_a,item_b,winner\nx,x,a\n" end, "1", "'x'", "itself")
    raises(function() comparisons "item_a,item_b\nx,y\n" end, "winner")
    raises(function() comparisons("a,b\n", { columns = { c = "x" } }) end, "columns", "'c'")
    raises(function() mr.data.comparisons "/nowhere.csv" end, "/nowhere.csv")
  end)
end)

describe("mr.data.item_features", function()
  it("reads files with or without a header, in several blocks", function()
    local tabs = features("id\tf1\tf2\r\nx\t1\t-2e3\r\n\r\ny\t0\t4\r\n", { delimiter = "\t" })
    equal(tabs:of{ "y", "x", "y" }:totable(), { { 0, 4 }, { 1, -2000 }, { 0, 4 } })
    local rows = {}
    for i = 1, 600 do rows[i] = ("i%d;%d;%d"):format(i, i, -i) end
    local many = features(table.concat(rows, "\n"), { delimiter = ";" })
    equal(many:of{ "i600", "i257" }:totable(), { { 600, -600 }, { 257, -257 } })
  end)

  it("joins interactions by the item ids of their file", function()
    local path = files.written("user,item\nu,b\nu,a\nv,c\nv,a\nu,c\nv,b\n")
    local fold = mr.data.interactions(path):binarize(1):folds{ k = 2, seed = 1, nsr = 1 }[1]
    local joined = features "a,1\nb,2\nc,3\nunused,4\n":join(fold.train)
    local ids = fold.train.ids.items
    for row, item in ipairs(fold.train.items:totable()) do
      equal(joined.features[row]:item(), ({ a = 1.0, b = 2.0, c = 3.0 })[ids[item]])
    end
    equal(joined.items:totable(), fold.train.items:totable())
    raises(function() features "a,1\n":join(fold.train) end, "features", "first")
  end)

  it("names the line and the value of a mistake", function()
    raises(function() features "x,1,2\ny,1\n" end, "1", ":2:", "numbers")
    raises(function() features "x,1\ny,one\n" end, "1", ":2:", "number", "one")
    raises(function() features "x,1\ny,inf\n" end, "1", ":2:", "number", "inf")
    raises(function() features "x,1\ny,1e999\n" end, ":2:", "number", "1e999")
    raises(function() features "x,1\nx,2\n" end, ":2:", "'x'")
    raises(function() features "x\n" end, ":1:", "numbers")
    raises(function() features "x,1\n,2\n" end, ":2:", "empty")
    raises(function() features "" end, "item", "empty")
    raises(function() features("x,1\n", { delimiter = ",," }) end, "delimiter", "',,'")
    local set = mr.data.dataset{ lists = mr.lists{ { 0, 1 } }, features = mr.ones(2, 1) }
    raises(function() features "x,1\n":join(set) end, "join", "items")
  end)
end)
