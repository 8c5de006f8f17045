local mr = require "moonrank"
local help = require "moonrank.help"
local registry = require "moonrank.bounds.registry"
local test = require "moonrank.test"
local check, describe, equal, it, near, raises = test.check, test.describe, test.equal, test.it, test.near, test.raises

-- Formulas of bounds as the documentation prints them, as functions of the score and of the metric's statistics.
local function value_of(name, M, stats)
  local formula = registry.written(name):match "bounded value: ([^\n]*)":gsub("|([^|]*)|", "abs(%1)")
  local env = { M = M, abs = math.abs,
    min = stats.min, max = stats.max, E = stats.expectation, sd = stats.sd, best = stats.best }
  return assert(load("return " .. formula, formula, "t", env))()
end

describe("the registry of bounds", function()
  it("has help with formula and source for every built-in bound", function()
    local names = mr.bounds.names()
    check(#names >= 8)
    for _, name in ipairs(names) do
      local text = help.text(name)
      check(text:find(('bound "%s"'):format(name), 1, true), name)
      check(text:find "bounded value: %S" and text:find "source: +%S", name)
      check(#registry.written(name):gsub("%s", "") > 200, name)
    end
  end)

  it("documents formulas of affine bounds that match the computed values", function()
    for _, case in ipairs{ { "ap", 0.7 }, { "ndcg", 0.6 }, { "nrbp_loss", 3 } } do
      local metric, score = table.unpack(case)
      local lists = mr.lists{ { 1, 0, 0, 1, 0 } }
      local stats = mr.bounds.of(metric, { n = 5, p = 2 })
      for _, name in ipairs{ "none", "minmax", "expectation", "expectation_max", "zscore" } do
        local bounded = mr.bounds.resolve(name).apply(mr.tensor({ score }, { dtype = "float64" }), metric, lists):item()
        near(bounded, value_of(name, score, stats), 1e-12)
      end
    end
  end)

  it("shows formula, source and text of script bounds and rejects invalid definitions", function()
    local about = { formula = "M / 2", source = "a spec", text = "Halves it." }
    mr.bounds.define("registry_spec_half", function(score) return score / 2 end, about)
    local text = help.text "registry_spec_half"
    check(text:find("M / 2", 1, true) and text:find("a spec", 1, true) and text:find("Halves it.", 1, true), text)
    mr.bounds.define("registry_spec_bare", function(score) return score end)
    check(help.text "registry_spec_bare":find "documentation")
    equal(mr.bounds.resolve "registry_spec_bare".name, "registry_spec_bare")
    local function same(score) return score end
    raises(function() mr.bounds.define("minmax", same) end, "'minmax'")
    raises(function() mr.bounds.define("registry_spec_odd", same, { formulas = "M" }) end, "formula")
    raises(function() help.text "minmxa" end, "minmax")
  end)
end)
