-- Tests evaluation:to_csv{lists = true}, which writes the values of each list.
local digits = require "moonrank.system.digits"
local evaluate = require "moonrank.evaluate"
local mr = require "moonrank"
local test = require "moonrank.test"
local it, check, equal, raises = test.it, test.check, test.equal, test.raises

-- Returns the rows of a CSV text without quotes, as lists of texts. The first row has the names of the columns.
local function cells_of(csv)
  local rows = {}
  for line in csv:gmatch "([^\n]*)\n" do
    local cells = {}
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    rows[#rows + 1] = cells
  end
  return rows
end

-- Checks that the columns of metrics have the evaluation's float64 values.
local function check_values(evaluation)
  local rows = cells_of(evaluation:to_csv{ lists = true })
  equal(#rows, evaluation.count + 1)
  for i, name in ipairs(evaluation.names) do
    equal(rows[1][i + 3], name)
    local exact = evaluate.exact(evaluation, name):to("cpu"):totable()
    for list, value in ipairs(exact) do
      local text = rows[list + 1][i + 3]
      check(value ~= value and text == "nan" or tonumber(text) == value, ("%s of list %d: %s"):format(name, list, text))
    end
  end
  return rows
end

it("has a row for each list with its number, N, P and every metric, by hand", function()
  local scores, lists = mr.tensor{ 3, 2, 1, 9, 8, 7, 6 }, mr.lists{ { 0, 1, 0 }, { 0, 0 }, { 2, 1 } }
  local found = mr.evaluate(scores, lists, { "rr", "precision@1" })
  equal(found:to_csv{ lists = true }, "list,N,P,rr,precision@1\n1,3,1,0.5,0\n2,2,0,nan,nan\n3,2,2,1,1\n")
  local means = "metric,mean,lists,skipped\nrr,0.75,2,1\nprecision@1,0.5,2,1\n"
  equal({ found:to_csv(), found:to_csv{}, found:to_csv{ lists = false } }, { means, means, means })
end)

it("has the float64 values of each list, also of metrics under a bound and of float32 scores", function()
  local set = mr.data.synthetic{ kind = "queries", queries = 40 }
  for _, dtype in ipairs{ "float32", "float64" } do
    local scores = mr.uniform({ set.lists.rows }, { seed = 3, dtype = dtype })
    local found = mr.evaluate(scores, set.lists, { "ndcg", "ap", { "ndcg", bound = "expectation" } })
    local rows = check_values(found)
    local sizes, relevant = set.lists.sizes:totable(), set.lists.relevant:totable()
    for list = 1, found.count do
      equal({ rows[list + 1][2], rows[list + 1][3] }, { ("%d"):format(sizes[list]), ("%d"):format(relevant[list]) })
    end
  end
end)

it("names users of a fold and queries of a run, with the rows that were ranked", function()
  local fold = mr.data.synthetic{ users = 30, items = 90 }:binarize(4):folds{ k = 3 }[1]
  local model = mr.models.popularity{ fold = fold }
  local all = fold:evaluate(model, { "ndcg@10", "rr" })
  local rows, users = check_values(all), all.users:totable()
  for i, user in ipairs(users) do equal(rows[i + 1][1], ("%d"):format(user)) end
  for i = 2, #rows do check(tonumber(rows[i][2]) <= 90 and tonumber(rows[i][3]) >= 1, rows[i][2]) end
  rows = check_values(fold:evaluate(model, { "ndcg" }, { candidates = "sampled", negatives = 10 }))
  for i = 2, #rows do equal(tonumber(rows[i][2]), 10 + tonumber(rows[i][3])) end
  rows = check_values(fold:evaluate(model, { "rr" }, { candidates = "one", negatives = 5, correct = true }))
  for i = 2, #rows do equal({ rows[i][2], rows[i][3] }, { "6", "1" }) end
  local lists = mr.lists{ relevance = mr.tensor{ 0, 1, 1 }, ids = { "q7", "q7", "q8" } }
  rows = check_values(mr.evaluate(mr.tensor{ 2, 1, 3 }, lists, { "rr" }))
  equal({ rows[2], rows[3] }, { { "q7", "2", "1", "0.5" }, { "q8", "1", "1", "1" } })
end)

it("has N and P of the judged documents of a run, whatever the run retrieved", function()
  local path = os.tmpname()
  io.open(path, "w"):write("1 Q0 1 1 9 t\n1 Q0 7 2 8 t\n2 Q0 1 1 9 t\n"):close()
  local run = mr.data.trec_run(path)
  os.remove(path)
  local rows = check_values(run:evaluate(mr.lists{ { 1, 1, 0, 0 }, { 1, 0, 2 } }, { "ap" }))
  equal({ rows[2], rows[3] }, { { "1", "4", "2", "0.5" }, { "2", "3", "2", "0.5" } })
end)

it("writes numbers with the fewest digits that read back as the same number", function()
  local values = { 0.1, 1 / 3, 2 / 3, 0.1 + 0.2, 1, 0, 1e-300, 5e-324, 0.6309297535714575, 1 - 2 ^ -53 }
  for _, value in ipairs(mr.uniform({ 500 }, { seed = 1, dtype = "float64" }):totable()) do
    values[#values + 1] = value
  end
  for _, value in ipairs(values) do
    local text = digits.shortest(value)
    equal(tonumber(text), value)
    local count = #text:gsub("e.*", ""):gsub("%.", ""):gsub("^0+", "")
    check(count <= 1 or tonumber(("%." .. count - 1 .. "g"):format(value)) ~= value, text)
  end
  equal({ digits.shortest(0.1), digits.shortest(1.0), digits.shortest(0 / 0) }, { "0.1", "1", "nan" })
end)

it("refuses other options and the name of a file", function()
  local found = mr.evaluate(mr.tensor{ 3, 2 }, mr.lists{ { 0, 1 } }, { "rr" })
  raises(function() found:to_csv{ list = true } end, "'list'", "'lists'")
  raises(function() found:to_csv{ lists = 1 } end, "lists", "1")
  raises(function() found:to_csv "file" end, "'file'", "write(x:to_csv())")
end)
