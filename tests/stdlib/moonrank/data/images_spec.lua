-- Tests images: decoding against Pillow and NumPy, label tables with mistakes, drawn faces, splits and pairs.
local mr = require "moonrank"
local core = require "moonrank.core"
local json = dofile "tests/support/json.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local folder = "tests/golden/pictures"

local write = files.write

describe("core.read_images", function()
  it("resizes every picture format to the values of Pillow and NumPy", function()
    local expected = json.read(folder .. "/means.json")
    local count = 0
    for name, numbers in pairs(expected.pictures) do
      local x = core.read_images({ folder .. "/" .. name }, expected.height, expected.width, false)
      equal(x:shape(), { 1, 3, 5, 7 })
      -- decoders of JPEG files may differ by one of 255 levels
      local tolerance = name:find "%.jpg$" and 0.002 or 1e-6
      for i, value in ipairs(x:reshape(3 * 5 * 7):totable()) do near(value, numbers[i], tolerance, name) end
      count = count + 1
    end
    equal(count, 13)
  end)

  it("converts to grey by luma weights", function()
    local paths = { folder .. "/colour.png", folder .. "/alpha.png" }
    local rgb, grey = core.read_images(paths, 5, 7, false), core.read_images(paths, 5, 7, true)
    equal(grey:shape(), { 2, 1, 5, 7 })
    for i = 1, 2 do
      near((rgb[i][1] * 0.299 + rgb[i][2] * 0.587 + rgb[i][3] * 0.114 - grey[i][1]):abs():max():item(), 0, 1e-6)
    end
  end)

  it("enlarges by repeating pixels and keeps the mean", function()
    local x = core.read_images({ folder .. "/colour.png" }, 74, 106, false)
    local own = core.read_images({ folder .. "/colour.png" }, 37, 53, false)
    equal(x[1][2][4][5]:item(), own[1][2][2][3]:item())
    near(core.read_images({ folder .. "/colour.png" }, 1, 1, false)[1][1]:item(), own[1][1]:mean():item(), 1e-6)
    near(core.read_images({ folder .. "/colour.png" }, 50, 9, false)[1][3]:mean():item(), own[1][3]:mean():item(), 1e-6)
  end)

  it("gives the same pixels for any number of threads and names the first file it cannot read", function()
    local paths = {}
    for i = 1, 40 do paths[i] = folder .. "/" .. (i % 2 == 0 and "colour.jpg" or "interlaced.png") end
    local a = core.read_images(paths, 8, 8, false)
    equal((a[2] - a[40]):abs():max():item(), 0.0)
    for _, at in ipairs{ 33, 17, 9 } do paths[at] = folder .. "/missing" .. at .. ".png" end
    raises(function() core.read_images(paths, 8, 8, false) end, "missing9.png")
  end)

  it("reads back what core.encode_png wrote, rounded to 256 levels", function()
    local place = sweeps.new_folder()
    write(place .. "/a.png", core.encode_png(mr.tensor{ { 0.0, 0.2999, 1.5 }, { -1.0, 0.5, 1.0 } }))
    local x = core.read_images({ place .. "/a.png" }, 2, 3, true)
    near(x[1][1] * 255, { 0, 76, 255, 0, 128, 255 }, 1e-4)
    raises(function() core.encode_png(mr.zeros(2, 4, 4)) end, "'x'", "'encode_png'", "{2, 4, 4}")
    raises(function() core.encode_png(mr.tensor{ { 0 / 0 } }) end, "NaN")
    raises(function() core.encode_png(mr.zeros(0, 4)) end, "'x'", "encode_png", "side")
  end)
end)

-- Makes a folder with this table of labels and two pictures, a.png and b.png.
local function with_labels(labels, body)
  local place = sweeps.new_folder()
  for i, name in ipairs{ "a", "b" } do
    write(("%s/%s.png"):format(place, name), core.encode_png(mr.full({ 3, 4, 4 }, i / 5)))
  end
  if labels then write(place .. "/labels.csv", labels) end
  body(place)
end

describe("mr.data.images", function()
  it("reads files and labels in the order of the label table", function()
    with_labels('label,file,note\n30,b.png,"x, y"\n2.5,./a.png,\n', function(place)
      local images = mr.data.images(place, { size = { 3, 2 } })
      equal(images.files, { "b.png", "./a.png" })
      equal(images.labels:totable(), { 30.0, 2.5 })
      equal(images.images:shape(), { 2, 3, 3, 2 })
      near(images.images[1]:mean():item(), 0.4, 1e-6)
      equal(#images, 2)
      equal(mr.data.images(place).images:shape(), { 2, 3, 100, 100 })
      equal(mr.data.images(place, { size = 6, grey = true }).images:shape(), { 2, 1, 6, 6 })
    end)
    with_labels("name,age\na.png,7\n", function(place)
      os.rename(place .. "/labels.csv", place .. "/ages.csv")
      local images = mr.data.images(place, { labels = "ages.csv", columns = { file = "name", label = "age" } })
      equal(images.labels[1]:item(), 7.0)
    end)
  end)

  it("names the file and row of a mistake", function()
    local cases = {
      { "file,label\na.png,1\na.png,2\n", "1", "2", "'a.png'" },
      { "file,label\na.png,1\n.//./a.png,2\n", "1", "2", "'.//./a.png'" },
      { "file,label\n\27[31ma.png,1\n", "1", "\\x1b" },
      { "file,label\n.,1\n", "1", "'.'" },
      { "file,label\na.png,0x10\n", "1", "'a.png'", "'0x10'" },
      { "file,label\na.png,old\n", "1", "'a.png'", "'old'" },
      { "file,label\na.png,nan\n", "1", "'a.png'", "'nan'" },
      { "file,label\na.png,1e999\n", "1", "'a.png'", "'1e999'" },
      { "file,label\na.png,1\n../a.png,2\n", "2", "'../a.png'" },
      { "file,label\n/etc/passwd,2\n", "1", "/etc/passwd" },
      { "file,label\n,2\n", "1", "''" },
      { "file,label\n", "image" },
      { "", "file", "empty" },
      { "file,age\na.png,1\n", ":1:1", "'file'", "'label'" },
      { "file,label,file\na.png,1,c.png\n", "labels.csv:1:12", "'file'" },
      { "file,label\nc.png,1\n", "c.png" },
      { "file,label\nlabels.csv,1\n", "labels.csv", "file", "'file,lab'" },
      { false, "mr.data.images", "labels.csv" },
    }
    for _, case in ipairs(cases) do
      with_labels(case[1], function(place) raises(function() mr.data.images(place) end, table.unpack(case, 2)) end)
    end
    with_labels("file,label\na.png,1\n", function(place)
      raises(function() mr.data.images(place, { size = 0 }) end, "size", "0")
      raises(function() mr.data.images(place, { size = { 3 } }) end, "size", "{3}")
      raises(function() mr.data.images(place, { sizes = 3 }) end, "'sizes'", "'size'")
      raises(function() mr.data.images(place .. "/labels.csv") end, "file", "folder")
      raises(function() mr.data.images(place .. "/nowhere") end, place .. "/nowhere")
    end)
  end)

  it("reads back what images:save wrote", function()
    local place = sweeps.new_folder()
    local drawn = mr.data.drawn_faces{ count = 7, size = 16 }
    drawn:save(place .. "/faces")
    for _, name in ipairs{ false, "", 3 } do raises(function() drawn:save(name or nil) end, "save", "folder") end
    local read = mr.data.images(place .. "/faces", { size = 16 })
    equal(read.labels:totable(), drawn.labels:totable())
    check((read.images - drawn.images):abs():max():item() <= 0.5 / 255 + 1e-6)
    equal(read.files, drawn.files)
    equal(mr.data.png(drawn.images[2]), sweeps.read(("%s/faces/%s"):format(place, drawn.files[2])))
    raises(function() mr.data.png(mr.zeros{ 4 }) end, "image")
  end)
end)

describe("mr.data.drawn_faces", function()
  it("saves images under unusual file names and rejects equal names", function()
    local place = sweeps.new_folder()
    local one = mr.data.drawn_faces{ count = 2, size = 4 }
    local function named(...)
      local images = one:select{ 1, 2 }
      images.files = { ... }
      return images
    end
    raises(function() named("a/x.png", "b/x.png"):save(place .. "/two") end, "'a/x.png'", "'b/x.png'", "x.png")
    raises(function() named("x.png", "x.jpg"):save(place .. "/two") end, "save", "x.png")
    check(not core.is_file(place .. "/two/x.png"), "nothing is written")
    named("a, b.png", 'say "c".png'):save(place .. "/comma")
    equal(mr.data.images(place .. "/comma", { size = 4 }).files, { "a, b.png", 'say "c".png' })
    named("=a.png", "-b.png"):save(place .. "/formula")
    check(sweeps.read(place .. "/formula/labels.csv"):find("\n'=a.png,", 1, true), "a spreadsheet does not run it")
    equal(mr.data.images(place .. "/formula", { size = 4 }).files, { "=a.png", "-b.png" })
  end)

  it("draws faces that depend on seed and index only, with ages from 2 to 80", function()
    local few, many = mr.data.drawn_faces{ count = 5, size = 12 }, mr.data.drawn_faces{ count = 400, size = 12 }
    equal((few.images - many.images:narrow(1, 1, 5)):abs():max():item(), 0.0)
    check((few.images - mr.data.drawn_faces{ count = 5, size = 12, seed = 2 }.images):abs():max():item() > 0.1)
    local ages = many.labels:totable()
    table.sort(ages)
    check(ages[1] <= 4 and ages[#ages] >= 78 and math.abs(ages[200] - 41) < 5, table.concat(ages, " "))
    for _, age in ipairs(ages) do check(age >= 2 and age <= 80 and age % 1 == 0) end
  end)

  it("draws older faces with less coloured hair", function()
    local faces = mr.data.drawn_faces{ count = 600, size = 20, noise = 0 }
    local colour = {}
    for i, age in ipairs(faces.labels:totable()) do
      local group = age < 40 and "young" or age > 65 and "old"
      if group then
        local hair = faces.images[i]:narrow(2, 4, 1):narrow(3, 9, 4)
        colour[group] = colour[group] or { 0, 0 }
        colour[group][1] = colour[group][1] + (hair[1] - hair[3]):mean():item()
        colour[group][2] = colour[group][2] + 1
      end
    end
    check(colour.young[1] / colour.young[2] > colour.old[1] / colour.old[2] + 0.05)
  end)

  it("rejects sizes and counts that are too large", function()
    raises(function() mr.data.drawn_faces{ count = 1, size = 1 << 31 } end, "size", "2147483648")
    raises(function() mr.data.drawn_faces{ count = 1000000000 } end, "count", "1000000000")
  end)
end)

-- Returns the pairs of a dataset as names of their images; the image with grade 1 comes first.
local function named_pairs(set)
  local found = {}
  local items, grades = set.items:totable(), set.lists.relevance:totable()
  for i = 1, set.count do
    local a, b = items[2 * i - 1], items[2 * i]
    equal(grades[2 * i - 1] + grades[2 * i], 1.0)
    check(a < b, "rows are in the order of the images")
    found[i] = grades[2 * i - 1] == 1 and { a, b } or { b, a }
  end
  return found
end

describe("image sets", function()
  local faces = mr.data.drawn_faces{ count = 60, size = 8 }

  it("share no image between the parts of images:split", function()
    local seen, total = {}, 0
    for _, part in ipairs{ faces:split{ seed = 3 } } do
      for i, file in ipairs(part.files) do
        check(not seen[file], file)
        seen[file] = true
        local number = math.tointeger(tonumber(file:match "%d+"))
        equal(part.labels[i]:item(), faces.labels[number]:item())
        equal((part.images[i] - faces.images[number]):abs():max():item(), 0.0)
      end
      total = total + #part
    end
    equal(total, 60)
    raises(function() faces:split{ valid = 0.5, test = 0.5 } end, "60 images", "train")
    raises(function() faces:split{ valid = 1 } end, "valid", "1")
  end)

  it("give distinct pairs that differ by more than the margin, up to all possible pairs", function()
    local labels, possible = faces.labels:totable(), 0
    for i = 1, 60 do
      for j = 1, 60 do
        if labels[i] - labels[j] > 5 then possible = possible + 1 end
      end
    end
    local all = faces:comparisons{ pairs = possible }
    local seen = {}
    for _, pair in ipairs(named_pairs(all)) do
      check(labels[pair[1]] - labels[pair[2]] > 5)
      local key = pair[1] .. " " .. pair[2]
      check(not seen[key], key)
      seen[key] = true
    end
    raises(function() faces:comparisons{ pairs = possible + 1 } end,
      "pairs", tostring(possible + 1), tostring(possible), "60")
    raises(function() faces:comparisons{ pairs = 1, margin = 78 } end, "pairs", "0")
  end)

  it("draw all possible pairs with equal probability", function()
    local few = faces:select{ 1, 2, 3, 4, 5, 6 }
    local counts, possible, labels = {}, 0, few.labels:totable()
    for i = 1, 6 do
      for j = 1, 6 do
        if labels[i] - labels[j] > 5 then possible = possible + 1 end
      end
    end
    for seed = 1, 600 do
      local pair = named_pairs(few:comparisons{ pairs = 1, seed = seed })[1]
      local key = pair[1] .. " " .. pair[2]
      counts[key] = (counts[key] or 0) + 1
    end
    local kinds = 0
    for _, count in pairs(counts) do
      kinds = kinds + 1
      check(math.abs(count - 600 / possible) < 5 * math.sqrt(600 / possible), count)
    end
    equal(kinds, possible)
  end)

  it("use pixels or given features as the features of pairs and items", function()
    local pairs_of, other = faces:comparisons{ pairs = 9 }, mr.normal({ 60, 4 }, { seed = 1 })
    equal(pairs_of.features:shape(), { 18, 192 })
    local with = faces:comparisons{ pairs = 9, features = other }
    equal(with.features[3]:totable(), other[pairs_of.items[3]:item()]:totable())
    equal(faces:items{ features = other }.features:shape(), { 60, 4 })
    equal(faces:items().lists.relevance:totable(), faces.labels:totable())
    raises(function() faces:items{ features = mr.zeros(59, 4) } end, "features", "{59, 4}")
    raises(function() faces:select{ 61 } end, "image", "61")
    raises(function() faces:select() end, "numbers", "nil")
    raises(function() faces:select{ 1, nil, 3 } end, "image", "select", "nil", "1")
    raises(function() faces:comparisons{} end, "comparisons", "pairs")
  end)
end)
