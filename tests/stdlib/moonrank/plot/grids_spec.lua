-- Tests mr.plot.intervals and mr.plot.bars by the script for gnuplot: positions of intervals, points and series.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

local nan = 0 / 0

-- Returns the data blocks that a gnuplot script draws, each as a list of points with its look. Gaps are left out.
local function layers(script)
  local blocks, found = {}, {}
  for name, body in script:gmatch "(%$d%d+) << EOD\n(.-)EOD" do
    local points = {}
    for a, b in body:gmatch "(%S+) (%S+)\n" do points[#points + 1] = { tonumber(a), tonumber(b) } end
    blocks[name] = points
  end
  for name, using, with in script:gmatch "(%$d%d+) using (%S+) with ([^\n]-) notitle" do
    found[#found + 1] = { points = blocks[name], using = using, with = with }
  end
  return found
end

describe("mr.plot.intervals", function()
  local names = { "ap", "rr" }

  it("draws wide intervals without caps, narrow ones with caps and the point on top", function()
    local all = layers(mr.plot.intervals{ categories = names, values = { 3, 5 }, low = { 2, 4 }, high = { 4, 7 },
      wide_low = { 1, 3 }, wide_high = { 6, 9 } }:script())
    equal(#all, 3)
    equal(all[1].points, { { 1, 1 }, { 1, 6 }, { 2, 3 }, { 2, 9 } })
    local near_points = all[2].points
    equal(#near_points, 12)
    equal({ near_points[1], near_points[2] }, { { 1, 2 }, { 1, 4 } })
    near(1 - near_points[3][1], near_points[4][1] - 1, 1e-9)
    equal({ near_points[3][2], near_points[5][2] }, { 2, 4 })
    equal(all[3].points, { { 1, 3 }, { 2, 5 } })
    check(all[3].with:find "^points" and all[1].with:find "^lines", "looks")
  end)

  it("draws series side by side with their own shapes and colours", function()
    local all = layers(mr.plot.intervals{ categories = names, series = { { name = "a", values = { 1, 2 } },
      { name = "b", values = { 3, nan } } } }:script())
    equal(#all, 2)
    near(all[1].points[1], { 0.8, 1 }, 1e-9)
    near(all[2].points[1], { 1.2, 3 }, 1e-9)
    equal(#all[2].points, 1)  -- the value NaN has no point
    check(all[1].with:match "pt %d+" ~= all[2].with:match "pt %d+", "shapes")
    check(all[1].with:match "#%x+" ~= all[2].with:match "#%x+", "colours")
  end)

  it("draws horizontal intervals and marks 0 if values have both signs", function()
    local all = layers(mr.plot.intervals{ categories = names, values = { -1, 2 }, low = { -2, nan }, high = { 1, 3 },
      horizontal = true }:script())
    equal(all[1].points, { { 0.5, 0 }, { 2.5, 0 } })
    for _, layer in ipairs(all) do equal(layer.using, "2:1") end
    equal(#all[2].points, 6)  -- only one interval is drawn, because the other has no lower end
  end)

  it("fits the axis to the intervals or uses the range option", function()
    local script = mr.plot.intervals{ categories = names, values = { 0.5, 0.6 }, wide_low = { 0.1, 0.2 },
      wide_high = { 0.9, 0.95 } }:script()
    local low, high = script:match "set yrange %[([%d.]+):([%d.]+)%]"
    check(tonumber(low) <= 0.1 and tonumber(high) >= 0.95, script)
    local ranged = mr.plot.intervals{ categories = names, values = { 1, 2 }, range = { 0, 4 } }
    check(ranged:script():find("set yrange [0:4]", 1, true), "range")
  end)

  it("rejects invalid options by name", function()
    for _, case in ipairs{
      { { values = { 1 } }, "mr.plot.intervals", "categories" },
      { { categories = names }, "mr.plot.intervals", "series" },
      { { categories = names, values = { 1 } }, "1", "2" },
      { { categories = names, values = { 1, 2 }, low = { 0, 1 } }, "low", "high" },
      { { categories = names, values = { 1, 2 }, wide_high = { 0, 1 } }, "wide_low", "wide_high" },
      { { categories = names, values = { 1, 2 }, low = { 0 }, high = { 1, 2 } }, "1", "2" },
      { { categories = names, values = { 1, 2 }, low = { 0, 3 }, high = { 1, 2 } }, "3", "2" },
      { { categories = names, series = { { name = "a", low = { 1, 2 } } } }, "series 1", "low", "high" },
      { { categories = names, values = { nan, nan } }, "NaN" },
      { { categories = names, values = { 1, 2 }, errors = { 1, 2 } }, "mr.plot.intervals", "'errors'" },
    } do raises(function() mr.plot.intervals(case[1]) end, table.unpack(case, 2)) end
  end)
end)

describe("mr.plot.bars", function()
  local names = { "ap", "rr" }

  -- Returns the lower and the upper end of every error bar.
  local function ends_of(options)
    local points, ends = layers(mr.plot.bars(options):script())[2].points, {}
    for i = 1, #points, 6 do ends[#ends + 1] = { points[i][2], points[i + 1][2] } end
    return ends
  end

  it("draws error bars from low to high or by errors on both sides", function()
    local low_high = { categories = names, values = { 3, 5 }, low = { 2, 4.75 }, high = { 6, 5.5 } }
    equal(ends_of(low_high), { { 2, 6 }, { 4.75, 5.5 } })
    equal(ends_of{ categories = names, values = { 3, 5 }, errors = { 1, 0.5 } }, { { 2, 4 }, { 4.5, 5.5 } })
    equal(ends_of{ categories = names, values = { 3, 5 }, low = { 2, nan }, high = { 6, 5.5 } }, { { 2, 6 } })
  end)

  it("rejects half an interval, mixed kinds of errors and low above high", function()
    local function refuses(options, ...)
      local words = { ... }
      options.categories, options.values = names, { 3, 5 }
      raises(function() mr.plot.bars(options) end, table.unpack(words))
    end
    refuses({ low = { 1, 2 } }, "high")
    refuses({ low = { 1, 2 }, high = { 4, 6 }, errors = { 1, 1 } }, "errors")
    refuses({ low = { 4, 2 }, high = { 1, 6 } }, "4", "1")
    refuses({ low = { 1 }, high = { 4, 6 } }, "low")
  end)
end)
