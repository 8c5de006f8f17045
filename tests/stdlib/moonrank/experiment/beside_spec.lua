-- Numbers beside published ones. Answers are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, raises, near = test.it, test.equal, test.check, test.raises, test.near

local published = {
  { loss = "ap", rate = 0.1, ndcg = 0.5, rr = 0.8 }, { loss = "ap", rate = 1, ndcg = 0.6, rr = 0.9 },
  { loss = "rr", rate = 1, ndcg = 0.25, rr = 0.75 },
}

-- Four results, of which the third is not published.
local function results()
  return { { loss = "rr", rate = 1.0, ndcg = { 0.5, 0.25, 1.0 }, rr = 0.625 },
    { loss = "ap", rate = 0.1, ndcg = 0.53, rr = 0.8 }, { loss = "ap", rate = 10, ndcg = 0.1, rr = 0.1 },
    { loss = "ap", rate = 1, ndcg = 0.61, rr = 0.95 } }
end

local function options(more)
  local o = { published = published, by = { "loss", "rate" }, fields = { "ndcg", "rr" }, difference = 0.03,
    group = { "loss" } }
  for name, value in pairs(more or {}) do o[name] = value end
  return o
end

it("beside adds published numbers and differences to the records that have a published row", function()
  local records = results()
  mr.experiment.beside(records, options())
  equal(records[1]["ndcg, printed"], 0.25)
  equal(records[1]["ndcg, less published"], { 0.25, 0.0, 0.75 })
  near({ records[1].largest, records[2].largest, records[4].largest }, { 0.25, 0.03, 0.05 }, 1e-12)
  equal({ records[3]["ndcg, printed"], records[3].largest }, { nil, nil })
  local less = { { loss = "rr", rate = 1, ndcg = 0.3, rr = 0.5 } }
  mr.experiment.beside(less, options())
  equal(less[1].largest, -0.25)
end)

it("beside counts records near the published ones in each group, and takes medians of differences", function()
  local found = mr.experiment.beside(results(), options{ units = "models", runs = function(group) return #group end })
  local rows = found.table.table:records()
  equal({ rows[1].loss, rows[1].models, rows[2].loss, rows[2].models, #rows }, { "rr", 1, "ap", 2, 2 })
  -- of "ap" the differences are 0.03, at the limit, and 0.01 in nDCG, and 0 and 0.05 in RR
  equal({ rows[2]["ndcg near"], rows[2]["rr near"], rows[2]["all near"] }, { 2, 1, 1 })
  near({ rows[2]["median of ndcg"], rows[2]["median of rr"] }, { 0.02, 0.025 }, 1e-12)
  equal({ rows[1]["ndcg near"], rows[1]["rr near"], rows[1]["all near"] }, { 0, 0, 0 })
  equal(found.table.cells.runs(found.table.table.rows[2], "models"), 2)
  check(found.table.caption:find "^Models" and found.table.caption:find "loss", found.table.caption)
end)

it("beside has columns with heads, for the fields that are shown and the group of a function", function()
  local function heads(columns)
    local found = {}
    for _, each in ipairs(columns) do found[#found + 1] = each and each[1] or nil end
    return found
  end
  local found = mr.experiment.beside(results(), options{ shown = { "rr" }, title = string.upper,
    group = { "first letter", function(of) return of.loss:sub(1, 1) end } })
  equal(heads(found.columns), { "RR", "RR, less published", "largest" })
  equal(found.table.table.columns, { "first letter", "records", "RR near", "median of RR", "all near" })
  equal(found.table.table:column "first letter", { "r", "a" })
  check(found.legend:find "less published", found.legend)
  local shown = mr.experiment.table{ records = results(), columns = { { "loss" }, table.unpack(found.columns) } }
  equal(shown.table:column "RR"[1], 0.625)
end)

it("beside has no table and no differences if no record is published", function()
  for _, o in ipairs{ options{ published = {} }, options{ by = { "loss", "ndcg" } } } do
    local found = mr.experiment.beside(results(), o)
    equal({ found.table, found.legend, found.columns[1][1], found.columns[#found.columns] }, { nil, "", "ndcg", false })
  end
end)

it("beside refuses published rows that are not told apart, and values that are not numbers", function()
  raises(function() mr.experiment.beside(results(), options{ by = { "loss" } }) end, "published[2]", "ap", "by")
  raises(function() mr.experiment.beside({ { loss = "rr", rate = 1, ndcg = "x", rr = 1 } }, options()) end, "'ndcg'",
    "'x'")
  local blank = { { loss = "rr", rate = 1, ndcg = 0.5 } }
  raises(function() mr.experiment.beside({ { loss = "rr", rate = 1, ndcg = 1, rr = 1 } }, options{ published = blank })
  end, "'rr, published'")
  raises(function() mr.experiment.beside(results(), options{ group = {} }) end, "group")
  raises(function() mr.experiment.beside(3, options()) end, "records", "3")
end)
