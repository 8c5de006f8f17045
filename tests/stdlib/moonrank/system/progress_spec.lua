-- Tests the progress line with a simulated clock and output.
local test = require "moonrank.test"
local progress = require "moonrank.system.progress"
local describe, it = test.describe, test.it

local function harness(options)
  local now, written = 0, {}
  options.clock = function() return now end
  options.out = { write = function(_, ...) for _, text in ipairs { ... } do written[#written + 1] = text end end }
  local line = progress.start(options)
  return line, function(seconds) now = seconds end, function()
    local text = table.concat(written)
    written = {}
    return text
  end
end

describe("the progress line", function()
  it("writes plain lines without a terminal: the first, one per interval and the last", function()
    local line, at, text = harness { total = 100, terminal = false, interval = 5 }
    for step = 1, 100 do
      at(step)
      line:update(step, { { "loss", 1 / step } })
    end
    line:finish()
    local lines = {}
    for each in text():gmatch "[^\n]+" do lines[#lines + 1] = each end
    test.equal(lines[1], "epoch   1/100  loss 1.0000  1.0 s, 1 min 39 s left")
    test.equal(lines[2], "epoch   6/100  loss 0.1667  6.0 s, 1 min 34 s left")
    test.equal(lines[#lines], "epoch 100/100  loss 0.0100  1 min 40 s")
    test.equal(#lines, 21)
  end)
  it("rewrites one line on a terminal at most ten times a second", function()
    local line, at, text = harness { total = 4, terminal = true, width = 80, label = "fit", unit = "step" }
    at(1)
    line:update(1, { { "ndcg", 0.5 } })
    test.equal(text(), "\rfit  step 1/4  [=====               ]  ndcg 0.5000  1.0 s, 3.0 s left\27[K")
    at(1.05)
    line:update(2)
    test.equal(text(), "")
    at(4)
    line:update(4)
    line:finish()
    line:finish()
    test.equal(text(), "\rfit  step 4/4  [====================]  4.0 s\27[K\n")
  end)
  it("shows the last state of a loop that ended early", function()
    local line, at, text = harness { total = 10, terminal = false }
    line:update(1)
    text()
    at(1)
    line:update(2, { { "loss", 0.25 }, { "stopped", "early" } })
    line:finish()
    test.equal(text(), "epoch  2/10  loss 0.2500  stopped early  1.0 s, 4.0 s left\n")
  end)
  it("cuts the line to the terminal's width", function()
    local line, _, text = harness { total = 1, terminal = true, width = 20 }
    line:update(1, { { "a", 1 }, { "b", 2 } })
    test.equal(#text(), #"\r" + 19 + #"\27[K")
  end)
  it("handles loops without steps and long times", function()
    local none, _, nothing = harness { total = 0, terminal = false }
    none:finish()
    test.equal(nothing(), "")
    local line, at, text = harness { total = 3, terminal = false }
    at(7261)
    line:update(1)
    test.equal(text(), "epoch 1/3  2 h 01 min, 4 h 02 min left\n")
  end)
  it("shows durations in the unit that they fill", function()
    for seconds, shown in pairs{ [0] = "0 ms", [0.012] = "12 ms", [0.5] = "0.5 s", [9.96] = "10 s",
      [59.6] = "1 min 00 s",
      [599.6] = "10 min", [3569] = "59 min", [3570] = "1 h 00 min", [1e300] = "277777777 h 47 min" } do
      test.equal(progress.duration(seconds), shown)
    end
  end)
end)
