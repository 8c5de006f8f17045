-- Tests core.permutation, the random orders of training.
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

it("core.permutation has each number once, for any size and number of threads", function()
  local threads = core.threads()
  for _, n in ipairs{ 0, 1, 2, 31, 32, 33, 63, 64, 65, 1000, 65535, 65536, 65537, 200000 } do
    local orders = {}
    for i, count in ipairs{ 1, 2, 3 } do
      core.threads(count)
      orders[i] = core.integers(core.permutation(n, 5, "order", 2))
    end
    core.threads(threads)
    equal(orders[2], orders[1])
    equal(orders[3], orders[1])
    local seen, moved = {}, 0
    for at, number in ipairs(orders[1]) do
      check(number >= 1 and number <= n and not seen[number])
      seen[number], moved = true, moved + (number ~= at and 1 or 0)
    end
    equal(#orders[1], n)
    -- a random order leaves one number in its place on average
    check(n < 1000 or moved > n - 20)
  end
end)

it("core.permutation gives each order equally often, and other orders for another seed, name or lane", function()
  local counts, draws = {}, 6000
  for seed = 1, draws do
    local order = table.concat(core.integers(core.permutation(3, seed, "order", 1)))
    counts[order] = (counts[order] or 0) + 1
  end
  local kinds = 0
  for _, count in pairs(counts) do
    kinds = kinds + 1
    check(math.abs(count - draws / 6) < 5 * math.sqrt(draws / 6))
  end
  equal(kinds, 6)
  local function text(...) return table.concat(core.integers(core.permutation(...)), " ") end
  local first = text(100, 1, "order", 1)
  equal(text(100, 1, "order", 1), first)
  for _, other in ipairs{ text(100, 2, "order", 1), text(100, 1, "other", 1), text(100, 1, "order", 2) } do
    check(other ~= first)
  end
end)
