-- Tests the layers of source folders: a file includes only files of its own folder or of a lower layer. The READMEs of
-- kernels/ and runtime/ explain the layers.
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, equal, it = test.check, test.describe, test.equal, test.it

local floors = {
  ["kernels/core"] = 1, ["kernels/device"] = 2, ["kernels/tensor"] = 3, ["kernels/ranking"] = 4, ["kernels/smooth"] = 5,
  ["kernels/losses"] = 6, ["kernels/bounds"] = 6, ["kernels/models"] = 6,
  ["runtime/tensor"] = 7, ["runtime/autograd"] = 8, ["runtime/lua"] = 9, ["runtime/ops"] = 10, ["runtime/io"] = 10,
  ["runtime/ranking"] = 11, ["runtime/statistics"] = 11, ["runtime/bounds"] = 12, ["runtime/losses"] = 12,
  ["runtime/models"] = 12, ["runtime/data"] = 12,
  ["runtime/system"] = 13, ["runtime/cluster"] = 14, ["runtime/cli"] = 15, ["runtime/embed"] = 15,
}
-- this file replaces the GPU's kernels in builds without them, and therefore names the kernels of every layer
local above = { ["kernels/device/none.cpp"] = true }

local function lines_of(command)
  local lines = {}
  for line in files.output(command):gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

describe("includes:", function()
  it("a folder of kernels/ or runtime/ includes only itself and lower layers", function()
    local seen = 0
    local command =
      [[grep -rnoE --include=*.h --include=*.cpp --include=*.cu --include=*.cuh '#include "[^"]+"' kernels runtime]]
    for _, line in ipairs(lines_of(command)) do
      local file, folder, included = line:match '^((%w+/%w+)/[^:]+):%d+:#include "(%w+/%w+)/'
      if folder and not above[file] then
        check(floors[folder] and floors[included], ("%s: a folder without a floor, give it one here"):format(line))
        check(folder == included or floors[included] < floors[folder],
          ("%s includes what is not below it"):format(line))
        seen = seen + 1
      end
    end
    check(seen > 500, seen)
  end)

  it("a file for the GPU includes no header for the CPU", function()
    local pattern = [[#include "[^"]*(_cpu|_loops|threads|simd|lanes)\.h"]]
    equal(lines_of(("grep -rlE --include=*.cu --include=*.cuh '%s' kernels"):format(pattern)), {})
  end)
end)

-- Results must have the same bits with any C library. So kernels/core/{functions, logarithms, powers, angles}.h have
-- their own implementations of mathematical functions, and calls of the C library's are errors.
local transcendental =
  "(acosh?|asinh?|atan[2h]?|cbrt|cosh?|erfc?|exp|exp2|expm1|hypot|lgamma|lgamma_r|log|log10|log1p|log2|pow|sinh?"
  .. "|tanh?|tgamma)[fl]?"
local own_ways = {
  ["kernels/core/powers.h"] = "names the GPU's power",
  ["kernels/smooth/pair_sums.cuh"] = "runs on the GPU alone, which has functions of its own",
  ["runtime/statistics/"] = "tests and fits, right to 1e-12 between systems",
}

local function exempt(line)
  for path in pairs(own_ways) do
    if line:sub(1, #path) == path then return true end
  end
  return false
end

it("files of kernels/ and runtime/ call no transcendental function of the C library, except listed ones", function()
  local pattern = ([[(std::|__builtin_|[^[:alnum:]_>]::)%s\>|\<(lgamma_r|erfc?|tgamma)\(]]):format(transcendental)
  local command =
    ("grep -rnE --include=*.h --include=*.cpp --include=*.cu --include=*.cuh '%s' kernels runtime"):format(pattern)
  local found, used = {}, {}
  for _, line in ipairs(lines_of(command)) do
    if exempt(line) then used[line:match "^[^:]*"] = true else found[#found + 1] = line end
  end
  equal(found, {})
  check(used["kernels/core/powers.h"] and used["kernels/smooth/pair_sums.cuh"], "the search finds what there is")
end)

it("modules of stdlib/moonrank/ call no transcendental function of Lua, except for plots and help", function()
  local command = [[grep -rnE 'math\.(exp|log|sin|cos|tan|asin|acos|atan)\>' stdlib/moonrank --include=*.lua]]
  for _, line in ipairs(lines_of(command)) do
    local file = line:match "^stdlib/moonrank/([^:]*)"
    local shown = line:find ":%d+:%-%-%-"
    for _, start in ipairs{ "plot", "results/pictures", "help/other_names", "serve/chart" } do
      shown = shown or file:find("^" .. start)
    end
    check(shown, line .. ": core.number_exp and its like are the same bits on every system")
  end
end)
