-- Tests the description of losses and options that programs in other languages read.
local mr = require "moonrank"
local test = require "moonrank.test"
local declared = require "moonrank.help.declared"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

local function by_name(list)
  local found = {}
  for _, each in ipairs(list) do found[each.name] = each end
  return found
end

describe("help.declared:", function()
  local losses = by_name(declared.losses())

  it("has every loss of the library, and none that a script defined", function()
    for _, name in ipairs(mr.losses.names()) do check(losses[name] and losses[name].summary ~= "", name) end
    mr.losses.define("declared_spec", { pairs = function(d) return d end })
    equal(by_name(declared.losses()).declared_spec, nil)
  end)
  it("has types, choices and defaults of options", function()
    local options = by_name(losses.psl.options)
    equal({ options.tau.types, options.tau.default, options.tau.choices }, { { "number" }, 1, nil })
    equal({ options.over.types, options.over.choices }, { {}, { "positive", "list" } })
    equal(by_name(declared.options "mr.EvaluateOptions").ties.choices, { "mean", "stable", "worst" })
  end)
  it("says which losses draw, and which options only mr.fit follows", function()
    check(losses.bpr.draws and not losses.ndcg.draws)
    check(by_name(losses.bpr.options).regularize.only_fit and by_name(losses.ordinal.options).learn.only_fit)
    equal(by_name(losses.ordinal.options).levels.only_fit, nil)
  end)
end)
