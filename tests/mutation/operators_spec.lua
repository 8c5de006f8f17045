-- Tests mutation operators: the mutants of short Lua programs must be those written out here by hand.
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check
local operators = dofile "tests/mutation/operators.lua"

-- Returns the texts of all mutants of a program, by one operator or by all.
local function texts(text, operator)
  local found = {}
  for _, each in ipairs(operators.mutants(text)) do
    if not operator or each.operator == operator then found[#found + 1] = each.text end
  end
  table.sort(found)
  return found
end

describe("operators.mutants", function()
  it("changes numbers, booleans, comparisons and arithmetic operators", function()
    equal(texts "return 5", { "return 4", "return 6" })
    equal(texts "return 0.5", { "return 1" })
    equal(texts("return a < b, true", "comparison"), { "return a <= b, true" })
    equal(texts("return a < b, true", "constant"), { "return a < b, false" })
    equal(texts "return a + b", { "return a - b" })
    equal(texts "return not a", { "return  a" })
  end)

  it("keeps the sign of a number", function() equal(texts "return -1", { "return -0", "return -2" }) end)

  it("exchanges words of options and parts, such as mean and sum", function()
    equal(texts [[return { reduction = "mean" }]], { [[return { reduction = "sum" }]] })
    equal(texts "return fold.valid", { "return fold.test" })
  end)

  it("removes calls", function()
    equal(texts("return ratings:binarize(four):folds{}", "call"),
      { "return ratings:binarize(four)", "return ratings:folds{}" })
    equal(texts("return f(x)", "call"), { "return x" })
    equal(texts("a.b.f(x) g(y)", "call"), { " g(y)", "a.b.f(x) " })
  end)

  it("leaves function definitions, comments and sentences unchanged", function()
    equal(texts "local function f(x) return x end -- 5 < 6", {})
    equal(texts [[return "a sentence of 5 words"]], {})
  end)

  it("gives texts that load, and the line of each change", function()
    local file <close> = assert(io.open("stdlib/moonrank/prompt/lexer.lua", "rb"))
    local all = operators.mutants(file:read "a")
    check(#all > 50, #all)
    for _, each in ipairs(all) do check(load(each.text) ~= nil, each.now) end
    equal(operators.mutants("return 1 +\n  x")[3].line, 1)
    equal(operators.mutants("return x +\n  1")[2].line, 2)
  end)
end)
