-- Tests that an entry which is added to a registry (such as that of losses) appears in every list of names: choices of
-- options, help, completion and errors.
local mr = require "moonrank"
local check_names = require("moonrank.check").names
local completion = require "moonrank.prompt.completion"
local help = require "moonrank.help"
local program = require "tests.support.program"
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, it, raises = test.check, test.describe, test.it, test.raises

local function has(list, name, where)
  local found = false
  for _, each in ipairs(list) do found = found or each == name end
  check(found, ("%s lack '%s': %s"):format(where, name, table.concat(list, ", ")))
end

describe("a metric, bound or loss that a script defines", function()
  mr.metrics.define("spec_listed", function(ranks, lists) return lists:mean(ranks) end, { direction = "minimize" })
  mr.bounds.define("spec_listed_bound", function(score) return score end)
  mr.losses.define("spec_listed_loss", { direction = "maximize", smooth = function(s, l) return l:mean(s) end })

  it("is listed by names()", function()
    has(mr.metrics.names(), "spec_listed", "metrics")
    has(mr.bounds.names(), "spec_listed_bound", "bounds")
    has(mr.losses.names(), "spec_listed_loss", "losses")
    has(mr.losses.bounds "ranknet", "spec_listed_bound", "bounds of a loss")
  end)

  it("is suggested for a mistyped name", function()
    raises(function() mr.metrics.parse "spec_listd" end, "spec_listed")
    raises(function() mr.bounds.resolve "spec_listed_bond" end, "spec_listed_bound")
    raises(function() mr.losses.bounds "spec_listed_los" end, "spec_listed_loss")
  end)

  it("is found by help.text", function()
    check(help.text "spec_listed":find "spec_listed", "metric")
    check(help.text "spec_listed_bound":find "spec_listed_bound", "bound")
  end)
end)

it("a name that cannot be written again is refused by everything that a script can name", function()
  local function f(score) return score end
  local defines = {
    ["mr.bounds.define"] = function(name) mr.bounds.define(name, f) end,
    ["mr.losses.define"] = function(name) mr.losses.define(name, { direction = "maximize", smooth = f }) end,
    ["mr.metrics.define"] = function(name) mr.metrics.define(name, f) end,
    ["mr.models.define"] = function(name) mr.models.define(name, { parameters = f, forward = f }) end,
    ["mr.args"] = function(name) require("moonrank.args").args({ [name] = 1 }, {}) end,
    ["mr.sweep"] = function(name) mr.sweep{ name = "x", space = { [name] = mr.choice{ 1 } }, run = f } end,
  }
  for _, define in pairs(defines) do
    for _, name in ipairs{ "", " ", "a b", "a(b)", "a-b", "a.b", "a,b", "a:b", "a@10", "a[b]", "2a", "é", "a\n" } do
      raises(function() define(name) end, "name", "letters")
    end
  end
  for _, where in ipairs{ "mr.bounds.define", "mr.losses.define", "mr.metrics.define", "mr.models.define" } do
    for _, name in ipairs{ "end", "nil", "goto" } do
      raises(function() defines[where](name) end, "name", "'" .. name .. "'", "keyword")
    end
    raises(function() defines[where](3) end, "name", "3")
  end
end)

-- Returns the output of a program that first adds an entry by the code `add`, and then runs the code `use`, which
-- raises an error.
local function said(add, use)
  local path = files.written(('local mr = require "moonrank"\n%s\n%s'):format(add, use))
  return select(2, program.run(("%s %s"):format(program.moonrank, path)))
end

it("options take a new entry of the library's registries as a choice", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local cases = {
    { 'require("moonrank.data.corrections").all.added = {suffix = "added", words = "added to"}',
      'mr.data.synthetic{}:binarize(4):folds{k = 3}[1]:candidates{correct = "wrong"}' },
    { 'require("moonrank.models.tree_options")', 'mr.models.trees{objective = "wrong"}',
      words = check_names(require("moonrank.models.tree_options").objectives) },
    { 'require("moonrank.results.compare").corrections.added = function(p) return p end',
      'require("moonrank.results") require("moonrank.options").declared["mr.results.CompareOptions"]:read("x", '
        .. '{by = "a", correction = "wrong"})' },
    { 'require("moonrank.bounds.registry").forms.added = {name = "distribution_added"}\n'
        .. 'package.loaded["moonrank.core"].distribution_spec = function() end',
      'mr.bounds.distribution_bound{form = "wrong"}' },
    { 'require("moonrank.losses.pointwise").added = function() end',
      'mr.fit{model = mr.models.linear{inputs = 2}, loss = mr.losses.ap{}, reduction = "rows", '
        .. 'train = mr.data.synthetic{kind = "queries", features = 2}}' },
  }
  for _, case in ipairs(cases) do
    local text = said(case[1], case[2])
    for _, word in ipairs(case.words or { "added" }) do check(text:find(word, 1, true), text) end
  end
end)

it("metric options have choices that the core accepts", function()
  local rows = require("moonrank.metrics.registry").conventions.by_name
  for option, value in pairs{ ties = "trec", empty = "skip", gain = "linear", denominator = "cutoff" } do
    has(rows[option].choices, value, option)
    for _, choice in ipairs(rows[option].choices) do
      mr.metrics.parse(option == "denominator" and "ap" or "ndcg", { [option] = choice })
    end
  end
end)

it("completion offers a bound that a script defines", function()
  local _, found = completion.complete 'mr.losses.ap{bound = "spec_listed_b'
  has(found, "spec_listed_bound", "completions")
end)
