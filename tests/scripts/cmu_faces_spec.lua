-- The scripts of Li & Wu's Tables 2 and 3 and Figures 3 to 7: on drawn faces, on a folder of images, on features of a table.
local mr = require "moonrank"
local core = require "moonrank.core"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, near = test.describe, test.it, test.equal, test.check, test.near

local function run(folder, name, words) return scripts.run(folder, ("cmu/%s.lua"):format(name), words .. " --workers 0") end

local small = "--count 60 --size 12 --pairs 60 --kernel 3 --epochs 1"

describe("tables of faces", function()
  if not pcall(core.xgboost_version) then return it("trees", function() test.skip "XGBoost's library is not installed" end) end

  scripts.it("have printed numbers beside those of faces that are called drawn; figures read their runs", {}, function(folder)
    local out = run(folder, "table_2", small)
    for _, words in ipairs{ "made-up faces, drawn, no photographs", "ranking         RankCNN       0.6483", "Class CNN     0.3283",
      "Reg. LR-l2   ", "then 45, 5 and 10 pairs", "filters are 3 x\n3" } do
      check(out:find(words, 1, true), words .. ": " .. out)
    end
    check(not out:find("Class NN", 1, true), out)
    local _, err = run(folder, "figure_3", small)
    check(err:find("39/39 trials", 1, true), err)
    local svg = sweeps.read(folder .. "/results/cmu/figure_3.svg")
    local _, pictures = svg:gsub("<image ", "")
    equal(pictures, 4)
  end)

  scripts.it("take images of a folder, and features of a table", {}, function(folder)
    local faces = mr.data.drawn_faces{ count = 60, size = 12 }
    faces:save(folder .. "/faces")
    local rows = {}
    for i, name in ipairs(faces.files) do
      rows[i] = ("%s,%.0f,%.4f"):format(name, faces.labels[i]:item(), i % 7)
    end
    core.write_file(folder .. "/features.csv", table.concat(rows, "\n") .. "\n")
    local out = run(folder, "table_3", "--images faces --features features.csv " .. small)
    check(out:find("images of faces", 1, true) and not out:find "made%-up", out)
    check(tonumber(out:match "regression is ([%d.]+) %(printed") > 0.9, "the age is among the features: " .. out)
    local status, _, err = sweeps.run(folder, scripts.root .. "/scripts/cmu/table_2.lua", "--images nowhere --workers 0")
    check(status ~= 0 and err:find("no data 'nowhere'", 1, true), err)
    status, _, err = sweeps.run(folder, scripts.root .. "/scripts/cmu/table_2.lua", "--kernel 17 --workers 0")
    check(status ~= 0 and err:find("images of 20 x 20 are too small for 2 convolutions of 17 x 17", 1, true), err)
  end)
end)

it("classifiers count by labels as math has it, by scores ties count a half", function()
  local systems = dofile "scripts/cmu/systems.lua"
  local function part(grades, items, count)
    return { items = { lists = mr.lists{ { 0, 0, 0, 0 } }, count = count }, features = mr.tensor{ { 2 }, { -1 }, { 2 }, { 0.5 } },
      pairs = { count = #grades, items = mr.tensor(items, { dtype = "int64" }), lists = mr.lists(grades) } }
  end
  local grades, items = { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 0, 1 } }, { 1, 2, 1, 3, 1, 4, 1, 2 }
  local system = { family = "classification", run = function() return function(batch) return batch.features:reshape(4) end end }
  local data = { valid = part(grades, items, 4), test = part(grades, items, 4) }
  local found = systems.run(system, 1, data, {})
  near(found.accuracy, (1 + 0.5 + 1 + 0) / 4, 1e-12)
  near(found.both, 1 / 4, 1e-12)
  equal(found.per_list.margin:totable(), { 3.0, 0.0, 1.5, -3.0 })
end)

scripts.it("pictures in a figure are PNG files in base64", {}, function(folder)
  local pictures = dofile "scripts/cmu/pictures.lua"
  local x = mr.uniform({ 3, 5, 7 }, { seed = 1 })
  pictures.save(folder .. "/a.svg", { title = "a < b", rows = { { { image = x, text = "1 & 2" } } } })
  local svg = sweeps.read(folder .. "/a.svg")
  check(svg:find("a &lt; b", 1, true) and svg:find("1 &amp; 2", 1, true), svg)
  core.write_file(folder .. "/a.txt", svg:match "base64,([^\"]+)")
  sweeps.capture(("base64 -d %s/a.txt > %s/a.png"):format(folder, folder))
  near((core.read_images({ folder .. "/a.png" }, 5, 7, false)[1] - x):abs():max():item(), 0, 0.5 / 255 + 1e-6)
  equal(pictures.centred(mr.tensor{ { { -2, 0, 1 } } }):totable(), { { { 0.0, 0.5, 0.75 } } })
end)
