-- Tests TREC run files: names with blanks, metrics under bounds, and mr.evaluate of a run.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function named(sizes, grades, ids, documents)
  return require("moonrank.core").lists(sizes, mr.tensor(grades), ids, documents)
end

describe("names in run files", function()
  local ids = { "New York", "a\tb", "%%already%20escaped", "%%", "100%", "%20", "Zürich" }
  local documents, grades, sizes = {}, {}, {}
  for q, id in ipairs(ids) do
    sizes[q] = 2
    for i, grade in ipairs{ 1, 0 } do documents[#documents + 1], grades[#grades + 1] = id .. " d" .. i, grade end
  end
  local lists = named(sizes, grades, ids, documents)
  local scored = mr.data.scored(mr.arange(1, #grades), lists)

  it("with blanks raise an error before a file is written, unless escape = true", function()
    local path = files.written "kept"
    raises(function() scored:to_trec_run(path) end, "escape = true")
    equal(files.read(path), "kept")
  end)

  it("are read back unchanged if they were written with escape = true", function()
    local path = files.new_path()
    scored:to_trec_run(path, { escape = true })
    for line in io.lines(path) do equal(select(2, line:gsub("%S+", "")), 6, line) end
    local run = mr.data.trec_run(path)
    equal(run.lists.ids, ids)
    local back = { table.unpack(run.lists.documents) }
    local expected = { table.unpack(documents) }
    table.sort(back)
    table.sort(expected)
    equal(back, expected)
    equal(run:evaluate(lists, { "ap" }).ap:totable(), scored:evaluate(lists, { "ap" }).ap:totable())
  end)

  it("from other programs are not unescaped", function()
    local odd = { "%", "%%", "%%x", "%20", "%%a%2", "%%a%20b%zz", "100%25", "%%a%2fb" }
    local text = {}
    for _, name in ipairs(odd) do text[#text + 1] = ("q Q0 %s 1 %d t\n"):format(name, #text) end
    local path = files.written(table.concat(text))
    equal(mr.data.trec_run(path).lists.documents, odd)
  end)
end)

describe("run:evaluate with bounds", function()
  local lists = mr.lists({ { 1, 0, 0, 2, 0 }, { 0, 1, 1 }, { 1, 1 }, { 0, 0 } })
  local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
  local wanted = { { "ap", bound = "minmax" }, { "rr", bound = "expectation" },
    { "nrbp(0.8)", bound = "expectation_max" }, { "ndcg@3", bound = "zscore" }, "ap[expectation]" }

  it("equals mr.evaluate if the run has every judged document", function()
    local run = mr.data.scored(scores, lists):evaluate(lists, wanted, { gain = "exp2" })
    local plain = mr.evaluate(scores, lists, wanted)
    equal(run.names, plain.names)
    for _, name in ipairs(plain.names) do
      local found, expected = run[name]:totable(), plain[name]:double():totable()
      for l = 1, 2 do near(found[l], expected[l], 1e-6, name) end
      for l = 3, 4 do check(found[l] ~= found[l], "no order matters to list " .. l) end
    end
  end)

  it("counts unjudged documents as rows and missing relevant ones as not retrieved", function()
    -- The run has the documents a, b, x; judged are a (grade 1), b (0) and c (1). So the list has four documents, two
    -- of them relevant, and the best ranking begins with a, c.
    local run = mr.data.scored(mr.tensor{ 3, 2, 1 }, named({ 3 }, { 0, 0, 0 }, { "q" }, { "b", "a", "x" }))
    local qrels = named({ 3 }, { 1, 0, 1 }, { "q" }, { "a", "b", "c" })
    local ap = (1 / 2) / 2
    local of = mr.bounds.of("ap", { n = 4, p = 2 })
    local found = run:evaluate(qrels, { "ap", { "ap", bound = "minmax" }, { "map", bound = "expectation" } })
    near(found.ap:item(), ap, 1e-12)
    near(found["ap[minmax]"]:item(), (ap - of.min) / (of.max - of.min), 1e-12)
    near(found["map[expectation]"]:item(), ap / of.expectation, 1e-12)
  end)

  it("uses linear gain like the run and accepts metrics without closed forms", function()
    local run = mr.data.scored(scores, lists)
    local metrics = { { "ndcg", bound = "minmax" }, { "err", bound = "expectation" } }
    local found = run:evaluate(lists, metrics)
    local linear = mr.evaluate(scores, lists, metrics, { gain = "linear" })
    for _, name in ipairs(found.names) do
      for l = 1, 2 do near(found[name]:totable()[l], linear[name]:double():totable()[l], 1e-6, name) end
    end
    local exp2 = mr.evaluate(scores, lists, { metrics[1] })
    check(linear["ndcg[minmax]"]:totable()[1] ~= exp2["ndcg[minmax]"]:totable()[1])
  end)

  it("rejects unknown and missing bounds by name", function()
    local run = mr.data.scored(scores, lists)
    raises(function() run:evaluate(lists, { { "ap", bound = "minmx" } }) end, "'minmx'", "'minmax'")
    raises(function() run:evaluate(lists, { { "ap" } }) end, "bound")
  end)
end)

it("mr.evaluate of a run equals run:evaluate", function()
  local lists = mr.lists{ { 1, 0, 2 }, { 0, 1 } }
  local run = mr.data.scored(mr.tensor{ 3, 2, 1, 0, 1 }, lists)
  for _, metrics in ipairs{ { "map", "ndcg@2" }, { { "ap", bound = "minmax" } } } do
    local own = run:evaluate(lists, metrics, { relevant = 2 })
    local by_name = mr.evaluate(run, lists, metrics, { relevant = 2 })
    equal(by_name.names, own.names)
    for _, name in ipairs(own.names) do equal(tostring(by_name[name]), tostring(own[name])) end
  end
end)

it("run:evaluate counts queries that only the run or only the judgments have below its table", function()
  local function lists(ids)
    local relevance, names = {}, {}
    for i in ipairs(ids) do
      relevance[2 * i - 1], relevance[2 * i], names[2 * i - 1], names[2 * i] = 1, 0, ids[i], ids[i]
    end
    return mr.lists{ relevance = mr.tensor(relevance), ids = names }
  end
  local run = mr.data.scored(mr.tensor{ 2, 1, 2, 1, 1, 2 }, lists{ "a", "b", "x" })
  local judged = lists{ "a", "b", "c", "d", "e" }
  local skipped, counted = run:evaluate(judged, { "rr" }), run:evaluate(judged, { "rr" }, { missing = "zero" })
  equal({ skipped.mean.rr, counted.mean.rr }, { 1.0, 0.4 })
  for evaluation, what in pairs{ [skipped] = "left out", [counted] = "count 0" } do
    local text = tostring(evaluation)
    check(text:find "3 of the 5" and text:find(what, 1, true) and text:find "1 queries", text)
  end
  local all = run:evaluate(lists{ "a", "b", "x" }, { "rr" })
  check(not tostring(all):find "judged", tostring(all))
end)

it("documents with equal scores are ranked by descending name, whatever the beginnings of names", function()
  local names, scores, grades, sizes, ids = {}, {}, {}, {}, {}
  for list = 1, 40 do
    sizes[list], ids[list] = 60, "q" .. list
    for i = 1, 60 do
      local number = (i * 37 + list) % 60
      names[#names + 1] = ("prefix"):rep(number % 3) .. number .. (number % 7 == 0 and "\xFF" or "")
      scores[#scores + 1], grades[#grades + 1] = (i * list) % 5, i % 4 == 0 and 1 or 0
    end
  end
  local lists = named(sizes, grades, ids, names)
  for _, dtype in ipairs{ "float32", "float64" } do
    local found = mr.data.scored(mr.tensor(scores, { dtype = dtype }), lists):evaluate(lists, { "ap", "rr" })
    local ap, rr = found.ap:totable(), found.rr:totable()
    for list = 1, 40 do
      local rows = {}
      for i = 1, 60 do rows[i] = 60 * (list - 1) + i end
      table.sort(rows, function(a, b)
        if scores[a] ~= scores[b] then return scores[a] > scores[b] end
        return names[a] > names[b]
      end)
      local relevant, sum, first = 0, 0, nil
      for rank, row in ipairs(rows) do
        if grades[row] == 1 then
          relevant, first = relevant + 1, first or rank
          sum = sum + relevant / rank
        end
      end
      near(ap[list], sum / relevant, 1e-12)
      near(rr[list], 1 / first, 1e-12)
    end
  end
end)

it("metrics of queries that the run lacks or has in another order use the right documents", function()
  local of_run = named({ 2, 2 }, { 0, 0, 0, 0 }, { "b", "a" }, { "x", "y", "x", "z" })
  local run = mr.data.scored(mr.tensor{ 1, 2, 3, 4 }, of_run)
  local judged = named({ 2, 1, 2 }, { 1, 0, 1, 0, 1 }, { "a", "c", "b" }, { "z", "x", "x", "y", "x" })
  local found = run:evaluate(judged, { "rr", "bpref", "ndcg" }, { missing = "zero" })
  equal(found.ids, { "a", "c", "b" })
  equal(found.rr:totable(), { 1.0, 0.0, 0.5 })
  equal(found.bpref:totable(), { 1.0, 0.0, 0.0 })
  equal(run:evaluate(judged, { "rr" }).rr:totable(), { 1.0, 0.5 })
  local same = named({ 2, 2 }, { 1, 0, 0, 1 }, { "b", "a" }, { "y", "x", "z", "x" })
  equal(run:evaluate(same, { "rr", "bpref" }).rr:totable(), { 1.0, 0.5 })
end)
