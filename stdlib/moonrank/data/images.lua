-- Images with one number (label) each, such as an age: read from folders of PNG and JPEG files, or synthetic faces. The
-- images can be turned into datasets with a row of features per image, or with pairwise comparisons.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local faces = require "moonrank.data.faces"
local find = require "moonrank.data.find"
local make_table = require("moonrank.table").new
local text_of_csv = require("moonrank.table").text_of_csv
local tensors = require "moonrank.tensor"

local M = {}

---Images of one size, with a number (label) for each image, such as an age.
---@class mr.Images
---@field images mr.Tensor  [count, channels, height, width] float32, 0 to 1
---@field labels mr.Tensor  [count] float32
---@field files string[]
---@field count integer
---@field name string
local Images = check.class("mr.Images")

local function new(parts)
  parts.count = #parts.files
  return setmetatable(parts, Images)
end

local image_columns = declare("mr.data.ImageColumns", {
  { "file", "string", default = "file", help = "name of the column of file names" },
  { "label", "string", default = "label", help = "name of the column of numbers" },
})

local function is_side(value) return math.type(value) == "integer" and value >= 1 and value <= 4096 end

local images_options = declare("mr.data.ImagesOptions", {
  { "labels", "string", default = "labels.csv", help = "name of the table of files and numbers in the folder" },
  { "columns", "mr.data.ImageColumns", shown = "file and label", help = "names of the columns of that table" },
  { "size", "integer|integer[]", default = 100, expected = "an integer from 1 to 4096, or {height, width}",
    accept = function(size)
      return is_side(size) or type(size) == "table" and #size == 2 and is_side(size[1]) and is_side(size[2])
    end,
    help = "height and width of all images in pixels: one number, or {height, width}" },
  { "grey", "boolean", default = false, also = { "gray", "grayscale" },
    help = "whether images have one channel, their luma" },
})

-- Returns a file name without "./" and doubled slashes, so that two spellings of one name are found to be equal.
local function shortest(name)
  local parts = {}
  for part in name:gmatch "[^/]+" do
    if part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

-- Returns the decimal number in a text; nil if the text is not a number, or is a hexadecimal number.
local function decimal(text) return not text:find "[xX]" and tonumber(text) or nil end

-- Reads the table of the images' labels. Returns the file names, the paths and the labels of all images.
local function labelled(path, folder, columns)
  local names, texts = core.read_pairs(path, columns.file, columns.label)
  local paths, labels, seen = {}, {}, {}
  for i, given in ipairs(names) do
    -- Undo an escape in the CSV file: mr.Images:save escapes a name such as "=a.png", which a spreadsheet would run as
    -- a formula.
    local name = core.file_exists(folder .. "/" .. given) and given or text_of_csv(given)
    names[i] = name
    local shown, number, short = core.safe_text(name), decimal(texts[i]), shortest(name)
    local outside = name:sub(1, 1) == "/" or ("/" .. name .. "/"):find("/../", 1, true)
    local where = ("%s: row %d"):format(path, i)
    check.expect(short ~= "" and not outside, where, "file", name, "a name within the folder")
    check.expect(not name:find "%c", where, "file", name, "a name without control characters")
    if seen[short] then check.fail("%s: rows %d and %d name the same file '%s'", path, seen[short], i, shown) end
    check.expect(number and math.abs(number) <= 1e30, where, ("label of '%s'"):format(shown), texts[i],
      "a finite number")
    paths[i], labels[i], seen[short] = folder .. "/" .. name, number, i
  end
  check.not_empty(path, "the table below its header", paths, "row, with the file and the label of an image")
  return names, paths, labels
end

---Reads the PNG and JPEG images of a folder. A table with a header in the same folder, labels.csv
---or labels.csv.gz, has one number (label) for each image. All images are scaled to one size: a
---pixel is the mean over an area, and an image with another aspect ratio is stretched. Pixels are
---red, green and blue from 0 to 1, or with `grey` one luma (weights 0.299, 0.587, 0.114).
---Transparent pixels are put over white; colour profiles and the camera's orientation are ignored.
---The format of a file is recognised by its first bytes. A file that is damaged, ends too early, or
---has more than 2^26 pixels is an error.
---@param folder string
---@param options? mr.data.ImagesOptions
---@return mr.Images
---Example:
---```lua
---local folder <const> = os.tmpname()
---os.remove(folder)
---mr.data.drawn_faces{count = 3}:save(folder)
---local images = mr.data.images(folder, {size = {10, 8}, grey = true})
---for _, file in ipairs{"00001.png", "00002.png", "00003.png", "labels.csv", ""} do
---  os.remove(folder .. "/" .. file)
---end
---images   --> images: 3 of 1 x 10 x 8
---```
function M.images(folder, options)
  local where = "mr.data.images"
  local o = images_options:read(where, options)
  local columns = image_columns:read(where .. " columns", o.columns)
  local sides = type(o.size) == "table" and o.size or { o.size, o.size }
  local found = find.path(folder)
  check.expect(find.is_folder(found), where, "folder", found, "a folder of images, not a file")
  local path = find.file(found, { o.labels })
  check.expect(path, where, "folder", found, "one with the table of files and labels, %s", check.found(o.labels))
  local names, paths, labels = labelled(path, found, columns)
  return new{ images = core.read_images(paths, sides[1], sides[2], o.grey), files = names,
    labels = core.tensor(labels, "float32", "cpu"), name = folder }
end

---Draws synthetic faces of people from 2 to 80 years; the labels are the ages. Children have
---rounder faces and larger eyes. The ages at which hair recedes and greys and wrinkles appear vary
---between faces. Position, size, light, colours and noise of a face vary, too. The face with a
---given number does not depend on the option `count`.
---@param options? mr.data.DrawnFacesOptions
---@return mr.Images
---Example: `mr.data.drawn_faces{count = 10, size = 16}   --> drawn faces: 10 of 3 x 16 x 16`
function M.drawn_faces(options)
  local o = faces.options("mr.data.drawn_faces", options)
  local labels, images = faces.draw(o)
  local files = {}
  for i = 1, o.count do files[i] = ("%05d.png"):format(i) end
  return new{ images = images, labels = labels, files = files, name = "drawn faces" }
end

---Returns the number of images: `#images`.
function Images:__len() return self.count end

function Images:__tostring()
  return ("%s: %d of %d x %d x %d"):format(self.name == "drawn faces" and self.name or "images", self.count,
    self.images:size(2), self.images:size(3), self.images:size(4))
end

local function chosen(self, numbers, name)
  local index, files = core.tensor(numbers, "int64", "cpu"), {}
  for i, number in ipairs(numbers) do files[i] = self.files[number] end
  local size = core.shape(self.images)
  size[1] = #numbers
  return new{
    images = self:features():rows(index):reshape(size),
    labels = self.labels:reshape(self.count, 1):rows(index):reshape(#numbers),
    files = files,
    name = name or self.name,
  }
end

---Returns the images with the given numbers (from 1), in the order of `numbers`.
---@param numbers integer[]
---@return mr.Images
---Example: `mr.data.drawn_faces{count = 5}:select{5, 2}.files[1]   --> 00005.png`
function Images:select(numbers)
  check.indices("images:select", "numbers", numbers, self.count, "image number")
  return chosen(self, check.not_empty("images:select", "numbers", numbers, "image number"))
end

---Returns a matrix with one row per image, which has all pixels of the image: one colour plane
---after the other, each line by line.
---@return mr.Tensor  [count, channels * height * width]
---Example: `mr.data.drawn_faces{count = 2, size = 10}:features():size(2)   --> 300`
function Images:features() return self.images:reshape(self.count, self.images:numel() // self.count) end

local split_options = declare("mr.data.ImageSplitOptions", {
  { "valid", "number", default = 0.15, above = 0, below = 1, help = "share of the images for validation" },
  { "test", "number", default = 0.2, above = 0, below = 1, also = { "test_size" },
    help = "share of the images for test" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random choice" },
})

---Splits the images at random into training, validation and test parts. The options `valid` and
---`test` are shares of the images; each of these two parts has at least one image. It is an error if
---no image remains for training. Call this method before mr.Images:comparisons, so that comparisons in
---different parts have no image in common.
---@param options? mr.data.ImageSplitOptions
---@return mr.Images train
---@return mr.Images valid
---@return mr.Images test
---Example: `select("#", mr.data.drawn_faces{count = 20}:split())   --> 3`
function Images:split(options)
  local o = split_options:read("images:split", options)
  local counts = {}
  for i, name in ipairs{ "valid", "test" } do
    counts[i] = math.max(1, math.floor(o[name] * self.count + 0.5))
  end
  local rest = self.count - counts[1] - counts[2]
  check.expect(rest >= 1, "images:split", "the number of images that valid and test leave for train", rest,
    "at least 1 of %d images", self.count)
  local order = core.integers(core.permutation(self.count, o.seed, "images", 0))
  local function part(first, n, name)
    local numbers = table.move(order, first, first + n - 1, 1, {})
    table.sort(numbers)
    return chosen(self, numbers, name)
  end
  return part(1, rest, "train"), part(rest + 1, counts[1], "valid"), part(rest + counts[1] + 1, counts[2], "test")
end

-- Returns the option `features`, whose shape must be [count, width]; by default the images' pixels.
local function features_of(self, where, features)
  if features == nil then return self:features() end
  check.expect(features.dims == 2 and #features == self.count, where, "shape of features", features:shape(),
    "{%d, width}", self.count)
  return features
end

local function ids_of(self) return { items = self.files } end

local items_options = declare("mr.data.ImageItemsOptions", {
  { "features", "mr.Tensor", class = "mr.Tensor", shown = "the pixels",
    help = "[count, width] features of the images" },
})

---Returns a dataset in which each image is a list of one row, whose grade is the image's label. Use
---it for regression (mr.losses.mse).
---@param options? mr.data.ImageItemsOptions
---@return mr.Dataset
---Example: `mr.data.drawn_faces{count = 4, size = 10}:items()   --> items: 4 lists, 4 rows, 300 features`
function Images:items(options)
  local o = items_options:read("images:items", options)
  local sizes = core.integers(core.full({ self.count }, 1, "int64", "cpu"))
  return dataset.new{ lists = core.lists(sizes, self.labels, {}, {}), features = features_of(self, "items", o.features),
    items = core.arange(1, self.count, 1, "int64", "cpu"), ids = ids_of(self), name = "items" }
end

-- Counts the pairs of images whose labels differ by more than `margin`. Returns the images in ascending order of
-- labels, how many pairs have their larger label among the first i, and the number of all pairs.
local function ranked(labels, margin)
  local order, before = {}, {}
  for i = 1, #labels do order[i] = i end
  table.sort(order, function(a, b)
    if labels[a] ~= labels[b] then return labels[a] < labels[b] end
    return a < b
  end)
  local below, total = 0, 0
  for place, i in ipairs(order) do
    while below + 1 < place and labels[i] - labels[order[below + 1]] > margin do below = below + 1 end
    total = total + below
    before[place] = total
  end
  return order, before, total
end

-- Returns the pair of images with the number `number` as two positions in the ascending order of labels, first that of
-- the larger label. `before` has the cumulative numbers of pairs that `ranked` returns.
local function pair_at(before, number)
  local low, high = 1, #before
  while low < high do
    local middle = (low + high) // 2
    if before[middle] >= number then high = middle else low = middle + 1 end
  end
  return low, number - (before[low - 1] or 0)
end

-- Draws `count` different numbers from 1 to `total` by a Fisher-Yates shuffle, which stores only moved entries.
local function drawn_numbers(count, total, seed)
  local shares = tensors.uniform({ count },
    { seed = seed, stream = "comparisons", dtype = "float64", device = "cpu" }):totable()
  local moved, numbers = {}, {}
  for i, share in ipairs(shares) do
    local at = math.min(total, i + math.floor(share * (total - i + 1)))
    numbers[i], moved[at] = moved[at] or at, moved[i] or i
  end
  return numbers
end

local comparisons_options = declare("mr.data.ImageComparisonsOptions", {
  { "pairs", "integer", required = true, least = 1, help = "number of pairs" },
  { "margin", "number", default = 5, least = 0, help = "the labels of a pair differ by more than this" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random pairs" },
}, items_options)

---Draws random pairs of images whose labels differ by more than `margin`; no pair occurs twice.
---Returns a dataset in which each pair is a list of two rows, in the order of the images' numbers.
---The image with the larger label has grade 1, the other image grade 0. The number of pairs per
---image is random.
---@param options mr.data.ImageComparisonsOptions
---@return mr.Dataset
---Example:
---```lua
---local faces = mr.data.drawn_faces{count = 30, size = 10}
---faces:comparisons{pairs = 50}   --> comparisons: 50 lists, 100 rows, 300 features
---```
function Images:comparisons(options)
  local where = "images:comparisons"
  local o = comparisons_options:read(where, options)
  local features, labels = features_of(self, where, o.features), core.numbers(self.labels)
  local order, before, total = ranked(labels, o.margin)
  check.expect(o.pairs <= total, where, "pairs", o.pairs,
    "at most %d, the number of pairs of %d images with labels that differ by more than margin = %g", total, self.count,
    o.margin)
  local items, grades = {}, {}
  for i, number in ipairs(drawn_numbers(o.pairs, total, o.seed)) do
    local place, lower = pair_at(before, number)
    local older, younger = order[place], order[lower]
    items[2 * i - 1], items[2 * i] = math.min(older, younger), math.max(older, younger)
    grades[i] = older < younger and { 1, 0 } or { 0, 1 }
  end
  local rows = core.tensor(items, "int64", "cpu")
  return dataset.new{
    lists = tensors.lists(grades),
    items = rows,
    features = features:rows(rows:to(features.device)),
    ids = ids_of(self),
    name = "comparisons",
  }
end

-- Returns the names under which images are saved: each file name without its folder and with the extension .png. Two
-- images with the same name are an error.
local function names_of(files)
  local names, seen = {}, {}
  for i, name in ipairs(files) do
    local stem = name:match "([^/]+)%.%w+$"
    check.expect(stem, "images:save", ("name of image %d"):format(i), name, "a name with an extension")
    names[i] = stem .. ".png"
    if seen[names[i]] then
      check.fail("images:save: images %d and %d ('%s' and '%s') would both be saved as %s, expected names that differ "
        .. "before the extension", seen[names[i]], i, core.safe_text(files[seen[names[i]]]), core.safe_text(name),
        core.safe_text(names[i]))
    end
    seen[names[i]] = i
  end
  return names
end

local function is_picture(value)
  local channels = check.is_tensor(value) and value.dims == 3 and value:size(1)
  return channels == 1 or channels == 3
end

local check_image = arguments{ "image", "mr.Tensor", accept = is_picture,
  expected = "a tensor [channels, height, width] with 1 or 3 channels" }

---Returns the bytes of an image as a PNG file, with 8 bits per channel.
---@param image mr.Tensor  [channels, height, width] of numbers from 0 to 1; 1 or 3 channels
---@return string
---Example: `mr.data.png(mr.zeros{3, 2, 2}):sub(2, 4)   --> PNG`
function M.png(image)
  check_image("mr.data.png", image)
  return core.encode_png(image)
end

---Saves the images in a folder, which mr.data.images can read: a PNG file per image, with 8 bits
---per channel, and the table of labels, labels.csv. The folder is created if necessary, and files
---with the same names are replaced. Two images whose names differ only in folder or extension are
---an error.
---@param folder string
function Images:save(folder)
  check.path("images:save", folder, "folder")
  local names, rows = names_of(self.files), {}
  core.make_folder(folder .. "/labels.csv")
  for i, name in ipairs(names) do
    core.write_file(("%s/%s"):format(folder, name), core.encode_png(self.images[i]))
    rows[i] = { name, ("%.9g"):format(self.labels[i]:item()) }
  end
  core.write_file(folder .. "/labels.csv", make_table{ columns = { "file", "label" }, rows = rows }:to_csv())
end

return M
