-- Tests the figures of the thesis: every script runs with --smoke, prints numbers that can be worked out by hand, and
-- writes a figure.
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local check = test.check

-- Returns the cells after these words in the printed line that begins with them.
local function cells(text, ...)
  local words = table.pack(...)
  for line in text:gmatch "[^\n]+" do
    local found = {}
    for word in line:gmatch "%S+" do found[#found + 1] = word end
    local same = true
    for i, word in ipairs(words) do same = same and found[i] == word end
    if same then return { table.unpack(found, #words + 1) } end
  end
  check(false, "no line " .. table.concat(words, " ") .. " in: " .. text)
end

local function near(found, expected, tolerance, what)
  check(tonumber(found) and math.abs(tonumber(found) - expected) <= tolerance,
    ("%s: %s, expected %g"):format(what, tostring(found), expected))
end

-- Runs the script of a figure, and calls `inspect` with what it printed.
local function figure(number, inspect)
  scripts.it(("figure_%s.lua --smoke shows numbers worked out by hand"):format(number), { "gnuplot" }, function(folder)
    local text = scripts.run(folder, ("thesis/figure_%s.lua"):format(number), "--smoke --out figure.svg")
    local svg = sweeps.read(folder .. "/figure.svg")
    check(svg:find("<svg", 1, true) and svg:find("</svg>", 1, true), "a whole SVG")
    inspect(text, svg)
  end)
end

local function log2(x) return math.log(x, 2) end

figure("1_1", function(text, svg)
  local second = cells(text, "A:", "only", "relevant", "item", "on", "rank", "2")
  near(second[1], 1 / log2(3), 1e-4, "relevant on rank 2")
  local worst, ideal = 0, 0
  for r = 2, 6 do worst, ideal = worst + 1 / log2(r + 1), ideal + 1 / log2(r) end
  near(cells(text, "B:", "all", "5", "relevant", "items", "of", "6", "at", "the", "bottom")[1], worst / ideal,
    1e-4, "worst ranking")
  near(cells(text, "ap", "50")[1], 0.1174, 1e-4, "AP with 10 of 50 at the bottom")
  for _, words in ipairs{ "N = 25", "fraction of relevant items", "nDCG" } do check(svg:find(words, 1, true), words) end
end)

figure("3_1", function(text)
  local ap, tied = cells(text, "AP", "X(15,5)"), cells(text, "NSR", "1,", "2,", "3", "X(40,20)")
  local least = (1 / 11 + 2 / 12 + 3 / 13 + 4 / 14 + 5 / 15) / 5
  near(ap[2], -least, 1e-4, "worst AP loss")
  near(ap[3], -1, 1e-12, "best, bounded")
  near(ap[4], 0, 1e-12, "worst, bounded")
  near(cells(text, "nRBP", "X(60,20)")[5], 1 / 800, 1e-12, "slope of nRBP")
  near(tied[2], 0.0109, 1e-4, "smooth nDCG beyond the worst ranking")
end)

figure("3_2", function(text)
  near(cells(text, "nDCG", "1")[1], -(1 + 1 / log2(3)) / 2, 1e-4, "one of two relevant")
  near(cells(text, "AP", "1")[1], -3 / 4, 1e-4, "Table 3.3a")
  near(cells(text, "nRBP", "3")[2], 3 * 25 / 2, 1e-4, "P (N - P) / 2")
  near(cells(text, "nDCG", "2")[4], 5, 0, "top at NSR 2")
  near(cells(text, "nDCG", "3")[4], 4, 0, "top at NSR 3")
end)

figure("3_3", function(text)
  local nrbp, ap = cells(text, "nRBP", "X(40,20)"), cells(text, "AP", "X(15,5)")
  near(nrbp[3], 0, 1e-12, "best nRBP")
  near(nrbp[4], 2, 1e-12, "worst nRBP")
  local harmonic = 0
  for r = 1, 15 do harmonic = harmonic + 1 / r end
  near(ap[3], -14 / (4 + 10 * harmonic / 15), 1e-4, "best AP: -1/E")
end)

figure("3_4", function(text)
  for _, loss in ipairs{ "nDCG", "AP", "nRBP" } do
    near(cells(text, loss, "X(80,20)")[3], -1, 1e-12, "best of " .. loss)
  end
  near(cells(text, "nDCG", "X(40,20)")[4], 1, 1e-4, "half relevant: the mean is midway")
  near(cells(text, "nRBP", "X(15,5)")[4], 1, 1e-12, "worst nRBP")
end)

figure("3_5", function(text)
  local ndcg, nrbp = cells(text, "nDCG", "X(8,4)"), cells(text, "nRBP", "X(8,4)")
  near(ndcg[1], 70, 0, "arrangements of 4 among 8")
  near(nrbp[1], 17, 0, "values of nRBP")
  check(tonumber(ndcg[2]) > 5 * tonumber(ndcg[5]), "64 fits nDCG far better than 1")
end)

figure("3_6", function(text)
  local ends = cells(text, "X(2,1)")
  near(ends[1], 0.310, 0.03, "nDCG at its least")
  near(ends[3], 0.690, 0.03, "nDCG at its largest")
  local gain = cells(text, "nRBP", "X(15,5)")
  near(gain[2], tonumber(gain[1]) / 50, 0.05, "values / range")
  check(tonumber(gain[4]) < 0.03, "near the exact distribution: " .. gain[4])
end)

figure("3_7", function(text)
  near(cells(text, "nDCG", "X(40,20)")[1], -1, 1e-12, "best nDCG")
  near(cells(text, "nRBP", "X(40,20)")[6], 1, 1e-3, "worst nRBP, bounded")
  check(text:find("0%.6418"), "all scores equal, nDCG of X(40,20): " .. text)
  local at = text:find("all scores equal", 1, true)
  near(cells(text:sub(at), "nDCG", "X(40,20)")[3], 2.18, 0.01, "standard deviations above a random ranking")
end)
