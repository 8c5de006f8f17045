-- Tests axes and positions of labels in figures, without drawing.
local test = require "moonrank.test"
local layout = require "moonrank.plot.layout"
local scale = require "moonrank.plot.scale"
local describe, equal, near = test.describe, test.equal, test.near

describe("plot axes", function()
  local function ticks(axis, count)
    local words = {}
    for i, tick in ipairs(scale.ticks(axis, count)) do words[i] = tick.text end
    return table.concat(words, " ")
  end
  test.it("have round ticks", function()
    equal(ticks({ lo = 0, hi = 1 }, 5), "0 0.2 0.4 0.6 0.8 1.0")
    equal(ticks({ lo = -3, hi = 7 }, 5), "-2 0 2 4 6")
    equal(ticks({ lo = 0.42, hi = 0.47 }, 5), "0.42 0.43 0.44 0.45 0.46 0.47")
    equal(ticks({ lo = 0, hi = 200000 }, 4), "0 50k 100k 150k 200k")
    equal(ticks({ lo = 0, hi = 1.2e6 }, 6), "0 0.2M 0.4M 0.6M 0.8M 1.0M 1.2M")
    equal(ticks({ lo = 1, hi = 3, whole = true }, 8), "1 2 3")
    equal(ticks({ lo = 1e-42, hi = 1e-39, log = true }, 5), "1e-42 1e-41 1e-40 1e-39")
    equal(ticks({ lo = 0, hi = 2e-5 }, 2), "0 1e-5 2e-5")
    equal(ticks({ lo = 1, hi = 1000, log = true }, 5), "1 10 100 1000")
    equal(ticks({ lo = 1, hi = 20, log = true }, 5), "1 2 5 10 20")
    equal(ticks({ lo = 1e-6, hi = 1e6, log = true }, 4), "1e-6 0.01 100 1M")
  end)

  test.it("have ticks with different labels, also in a narrow range of large or small numbers", function()
    equal(ticks({ lo = 0.69312, hi = 0.69318 }, 3), "0.69312 0.69314 0.69316 0.69318")
    for power = -12, 14 do
      for _, narrow in ipairs{ 1e-3, 1e-5, 1e-7, 1e-9 } do
        local seen, lo = {}, 1.2345678 * 10.0 ^ power
        for _, tick in ipairs(scale.ticks({ lo = lo, hi = lo * (1 + narrow) }, 5)) do
          test.check(not seen[tick.text], ("%s twice in %g to %g"):format(tick.text, lo, lo * (1 + narrow)))
          seen[tick.text] = true
        end
      end
    end
  end)

  test.it("have ticks between 0 and 1 if all values are 0 or 1, also with a given range", function()
    local function steps(o)
      o.values, o.pad, o.log = { 0, 1 }, 0, false
      return ticks(scale.axis("f", o), 5)
    end
    equal(steps{ name = "y" }, "0 0.2 0.4 0.6 0.8 1.0")
    equal(steps{ name = "y", range = { 0, 1 } }, "0 0.2 0.4 0.6 0.8 1.0")
    equal(steps{ name = "x", range = { 0, 1 } }, "0 1")  -- epochs, say
  end)

  test.it("spread overlapping labels by the least distance", function()
    local items = { { y = 50 }, { y = 52 }, { y = 10 }, { y = 99 } }
    near(layout.spread(items, 10, 0, 95), 4)
    near({ items[1].y, items[2].y, items[3].y, items[4].y }, { 10, 46, 56, 95 })
  end)

  test.it("spread labels at the bottom, whose neighbours above then move too", function()
    for _, heights in ipairs{ { 70, 97, 99 }, { 120, 140 }, { 99, 70, 97, 60 }, { -40, 130, 131 } } do
      local items = {}
      for i, y in ipairs(heights) do items[i] = { y = y } end
      layout.spread(items, 16, 0, 100)
      for i, item in ipairs(items) do
        test.check(item.y >= 0 and item.y <= 100, item.y)
        test.check(i == 1 or item.y - items[i - 1].y >= 16 - 1e-9, ("%s %d"):format(table.concat(heights, " "), i))
      end
    end
  end)
end)

