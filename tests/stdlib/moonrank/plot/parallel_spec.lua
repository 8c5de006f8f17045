-- Tests mr.plot.parallel by the script for gnuplot: where lines cross the axes, ticks, and looks of lines.
local mr = require "moonrank"
local parallel = require "moonrank.plot.parallel"
local test = require "moonrank.test"
local text = require "moonrank.plot.text"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

local nan = 0 / 0

-- Returns the data blocks of a gnuplot script: lists of lines, each a list of {axis, height, colour}.
local function blocks(script)
  local all = {}
  for body in script:gmatch "<< EOD\n(.-)EOD" do
    local lines = { {} }
    for row in body:gmatch "([^\n]*)\n" do
      if row == "" then lines[#lines + 1] = {} else
        local point = {}
        for cell in row:gmatch "%S+" do point[#point + 1] = tonumber(cell) end
        table.insert(lines[#lines], point)
      end
    end
    all[#all + 1] = lines
  end
  return all
end

-- Returns the labels on the axes, in their order.
local function words(script)
  local found = {}
  for word in script:gmatch "set label '([^\n]-)' at [^\n]- boxed" do found[#found + 1] = word end
  return found
end

describe("lines of mr.plot.parallel", function()
  it("cross linear, logarithmic and categorical axes at their values", function()
    local f = mr.plot.parallel{ color = { 3, 1 }, axes = {
      { name = "a", values = { 2, 4 } },
      { name = "lr", values = { 0.1, 0.001 }, log = true, range = { 0.0001, 1 } },
      { name = "loss", values = { "rr", "ap" } },
    } }
    local all = blocks(f:script())
    equal(#all, 2)  -- two blocks: the best tenth of the lines is drawn last, on top
    near(all[1][1][2][2], 0.25, 1e-9)
    equal(all[1][1][1], { 1, 1, 1 })
    equal(all[1][1][3], { 3, 0, 1 })
    equal(all[2][1][1], { 1, 0, 3 })
    near(all[2][1][2][2], 0.75, 1e-9)
    equal(all[2][1][3], { 3, 1, 3 })
  end)

  it("pass below an axis that does not apply and end early if the last value is NaN", function()
    local f = mr.plot.parallel{ color = { 1, 2, nan }, groups = { "", "", "failed" },
      axes = { { values = { 1, 2, 3 } }, { values = { nan, 5, nan } }, { name = "m", values = { 1, 2, nan } } } }
    local script = f:script()
    local all = blocks(script)
    equal(#all[1][1], 2)
    check(all[1][1][2][2] < 0 and all[2][1][2][2] < 0, "below")
    check(table.concat(words(script), " "):find "none", "its name")
    check(script:find("'failed'", 1, true), "in the legend")
  end)

  it("are dark and on top if they are the best", function()
    local axes = { { values = { 1, 2, 3 } } }
    for _, direction in ipairs{ "minimize", "maximize" } do
      local minimize = direction == "minimize"
      local script = mr.plot.parallel{ axes = axes, color = { 5, 7, 6 }, direction = direction }:script()
      local all = blocks(script)
      equal(all[#all][1][1][3], minimize and 5 or 7)
      equal(script:match "palette defined %(0 '(#%x+)'", minimize and "#440154" or "#FDE725")
    end
  end)

  it("have a colour bar also without a legend", function()
    local axes = { { values = { 2, 4 } }, { values = { 1, 3 } } }
    local f = mr.plot.parallel{ color = { 3, 1 }, axes = axes, legend = "none" }
    check(f:script():find("set colorbox user", 1, true))
  end)

  it("can be 5000 or just one", function()
    local values, color = {}, {}
    for i = 1, 5000 do values[i], color[i] = i % 97, (i * 7919) % 5000 end
    local all = blocks(mr.plot.parallel{ axes = { { values = values }, { values = color } }, color = color }:script())
    equal(#all[1] + #all[2], 5000)
    local one = mr.plot.parallel{ axes = { { values = { 3 } }, { values = { "x" } } }, color = { 1 } }
    equal(#blocks(one:script())[1], 1)
  end)
end)

describe("ticks of mr.plot.parallel", function()
  it("are whole numbers, powers, given values or names", function()
    local function of(axis)
      return words(mr.plot.parallel{ axes = { axis }, color = axis.color or { 1, 2 } }:script())
    end
    equal(of{ values = { 1, 3 } }, { "1", "2", "3" })
    equal(of{ values = { 1e-4, 1e-1 }, log = true }, { "0.0001", "0.001", "0.01", "0.1" })
    equal(of{ values = { 16, 1024 }, log = true, ticks = { 16, 64, 256, 1024 } }, { "16", "64", "256", "1024" })
    equal(of{ values = { "ndcg", "ap" } }, { "ap", "ndcg" })
  end)

  it("are thinned if there are many", function()
    local names, color = {}, {}
    for i = 1, 200 do names[i], color[i] = ("category %03d"):format(i), i end
    local found = words(mr.plot.parallel{ axes = { { values = names } }, color = color }:script())
    check(#found > 5 and #found < 35, #found)
  end)

  it("shorten long names in the middle to fit a width", function()
    equal(parallel.cut("ap", 11, 100), "ap")
    for _, name in ipairs{ "a_very_long_name_of_a_loss_function", "größenordnungsmäßig", ("x"):rep(400) } do
      local cut = parallel.cut(name, 11, 80)
      check(text.width(cut, 11) <= 80 and utf8.len(cut) >= 5, cut)
      equal(cut:sub(1, 3), name:sub(1, 3))
      equal(cut:sub(-1), name:sub(-1))
    end
  end)

  it("keep full names if shortened names would be equal", function()
    local names = { ("x"):rep(40) .. "1" .. ("x"):rep(40), ("x"):rep(40) .. "2" .. ("x"):rep(40) }
    local script = mr.plot.parallel{ axes = { { values = names }, { values = { 1, 2 } } }, color = { 1, 2 } }:script()
    for _, name in ipairs(names) do check(script:find(name, 1, true), name) end
  end)
end)

it("mr.plot.parallel names invalid options", function()
  for _, case in ipairs{
    { {}, "mr.plot.parallel", "axes" },
    { { axes = { { values = { 1 } } } }, "mr.plot.parallel", "color" },
    { { axes = { { values = { 1 } } }, color = { 1, 2 } }, "color", "2", "1" },
    { { axes = { { values = { 1 } }, { values = { 1, 2 } } }, color = { 1 } }, "2", "1" },
    { { axes = { { values = { 1, "x" }, name = "lr" } }, color = { 1, 2 } }, "mr.plot.parallel", "'lr'" },
    { { axes = { { values = { true } } }, color = { 1 } }, "1", "true" },
    { { axes = { { values = { 1 } } }, color = { 1 }, groups = "x" }, "groups", "'x'" },
    { { axes = { { values = { 1 } } }, color = { 1 }, groups = { 3 } }, "1", "groups", "3" },
    { { axes = { { values = { 1 } } }, color = { nan } }, "color", "NaN", "line" },
    { { axes = { { values = { 1 }, logg = true } }, color = { 1 } }, "'logg'", "'log'" },
  } do raises(function() mr.plot.parallel(case[1]) end, table.unpack(case, 2)) end
end)
