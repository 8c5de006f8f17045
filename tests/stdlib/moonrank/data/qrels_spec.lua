-- Tests writing judgments (qrels files) of lists and datasets: trec_qrels reads the same lists back, and run files of
-- the same lists match them.
local core = require "moonrank.core"
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, equal, it, raises = test.check, test.describe, test.equal, test.it, test.raises

local function same(a, b)
  equal(a.ids, b.ids)
  equal(a.documents, b.documents)
  equal(core.integers(a.sizes), core.integers(b.sizes))
  equal(a.relevance:totable(), b.relevance:totable())
end

describe("lists:to_qrels", function()
  it("writes what trec_qrels reads, with names that have blanks if escape is true", function()
    local path = os.tmpname()
    local lists = core.lists({ 2, 1 }, mr.tensor{ 0, 3, 1 }, { "q 1", "%%" }, { "New York", "a%20", "ä" })
    lists:to_qrels(path, { escape = true })
    same(mr.data.trec_qrels(path), lists)
    raises(function() lists:to_qrels(path) end, "q 1", "escape")
    same(mr.data.trec_qrels(path), lists)
  end)

  it("names lists and rows by their numbers, as runs of the same lists", function()
    local lists, path, run = mr.lists{ { 0, 2, 1 }, { 1, 0 } }, os.tmpname(), os.tmpname()
    lists:to_qrels(path)
    equal(sweeps.read(path), "1 0 1 0\n1 0 2 2\n1 0 3 1\n2 0 1 1\n2 0 2 0\n")
    local scores = mr.tensor{ 0.1, 0.2, 0.3, 0.4, 0.5 }
    mr.data.scored(scores, lists):to_trec_run(run)
    local found = mr.data.trec_run(run):evaluate(path, { "ndcg" }).mean.ndcg
    local expected = mr.evaluate(scores, lists, { "ndcg" }, { gain = "linear" }).mean.ndcg
    check(math.abs(found - expected) < 1e-6)
  end)

  it("writes the ids of users and items of a dataset", function()
    local path = os.tmpname()
    local file = files.written "user,item,rating\nann,x,5\nann,y,1\nbob,y,4\nann,z,4\nbob,x,5\nbob,w,4\n"
    local fold = mr.data.interactions(file):binarize(4):folds{ k = 2, by = "user", seed = 1, nsr = 1 }[1]
    fold.test:to_qrels(path)
    local back = mr.data.trec_qrels(path)
    equal(back.rows, fold.test.lists.rows)
    for _, id in ipairs(back.ids) do check(id == "ann" or id == "bob", id) end
    for _, id in ipairs(back.documents) do check(id:find "^[w-z]$", id) end
  end)

  it("refuses grades that are not integers, documents that occur twice, and empty names, and writes nothing", function()
    local path = os.tmpname()
    local notes = files.written "my notes on grades 1\nq 0 d 1\n"
    raises(function() mr.lists{ { 1 } }:to_qrels(notes) end, notes, "exists")
    core.write_file(notes, "q 0 d 1\r\n")
    mr.lists{ { 1 }, { 0 } }:to_qrels(notes)
    equal(mr.data.trec_qrels(notes).count, 2)
    raises(function() mr.lists{ { 0, 0.5 } }:to_qrels(path) end, "grade", "0.5", "integer")
    local twice = core.lists({ 2 }, mr.tensor{ 0, 1 }, { "q" }, { "a", "a" })
    raises(function() twice:to_qrels(path) end, "'q'", "'a'", "twice")
    local empty = core.lists({ 1 }, mr.tensor{ 1 }, { "q" }, { "" })
    raises(function() empty:to_qrels(path) end, "name", "''")
    raises(function() mr.lists{ { 1 } }:to_qrels() end, "path")
    raises(function() mr.lists{ { 1 } }:to_qrels(path, { escap = true }) end, "escap", "escape")
    equal(sweeps.read(path), "")
  end)
end)

describe("ratings:titles", function()
  local reads = files.written "user,item\nann,8\nann,9\nbob,10\n"
  local ratings = mr.data.interactions(reads)

  it("reads titles from a table, by item number, and an empty text for other items", function()
    local books = files.written 'id,name\n10,"Emma, revised"\n8,Ulysses\n7,Other\n'
    local titles = ratings:binarize(1):titles(books, { item = "id", title = "name" })
    equal(titles, { "Ulysses", "", "Emma, revised" })
    equal(#titles, ratings.items)
  end)

  it("refuses a missing path, missing columns and a table of other items", function()
    local other = files.written "item,title\n77,Emma\n"
    raises(function() ratings:titles() end, "path")
    raises(function() ratings:titles "none.csv" end, "none.csv")
    raises(function() ratings:titles(reads) end, "title")
    raises(function() ratings:titles(other) end, "'8'", "'77'")
  end)
end)
