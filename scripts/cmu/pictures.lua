-- Writes rows of images, with a text below each image, as one SVG file that contains the pixels.
local mr = require "moonrank"

local M = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local function escape(text) return (text:gsub('[&<>"]', entities)) end

local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local number = a << 16 | (b or 0) << 8 | (c or 0)
    for i = 0, 3 do
      local digit = number >> (18 - 6 * i) & 63
      out[#out + 1] = (i == 2 and not b or i == 3 and not c) and "=" or digits:sub(digit + 1, digit + 1)
    end
  end
  return table.concat(out)
end

---Turns signed numbers, such as weights, into pixels: 0 becomes grey. The number with the largest
---absolute value becomes black if negative, white if positive.
---@param x mr.Tensor  [channels, height, width]
---@return mr.Tensor
function M.centred(x)
  local most = x:abs():max():item()
  return x * (0.5 / (most > 0 and most or 1)) + 0.5
end

local gap, line = 10, 16

-- Returns the SVG elements of one image and of the lines of text below it.
local function cell(each, x, y, side, tall)
  local parts = { ('<image x="%d" y="%d" width="%d" height="%d" style="image-rendering: pixelated" '
    .. 'href="data:image/png;base64,%s"/>\n'):format(x, y, side, tall, base64(mr.data.png(each.image))) }
  local below = 0
  for text in (each.text or ""):gmatch "[^\n]+" do
    below = below + 1
    parts[#parts + 1] = ('<text x="%d" y="%d" text-anchor="middle">%s</text>\n'):format(
      x + side // 2, y + tall + below * line - 2, escape(text))
  end
  return table.concat(parts)
end

---Writes rows of images as an SVG file, with a text below each image. `o.side` is the width of an image in pixels of
---the file (default 96). `o.lines` is the number of text lines below each image (default 1).
---@param path string
---@param o { title: string, rows: { image: mr.Tensor, text?: string }[][], side?: integer, lines?: integer }
function M.save(path, o)
  local side, most, parts = o.side or 96, 0, {}
  local shape = #o.rows > 0 and o.rows[1][1].image:shape() or { 3, 1, 1 }
  local tall = math.floor(side * shape[2] / shape[3])
  local height = tall + (o.lines or 1) * line + gap
  for r, row in ipairs(o.rows) do
    most = math.max(most, #row)
    for c, each in ipairs(row) do
      parts[#parts + 1] = cell(each, gap + (c - 1) * (side + gap), 2 * line + gap + (r - 1) * height, side, tall)
    end
  end
  local wide, high = math.max(gap + most * (side + gap), 9 * #o.title), 2 * line + gap + #o.rows * height
  mr.experiment.write(path, ([[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"
  font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="%d" y="%d" font-size="15">%s</text>
%s</svg>
]]):format(wide, high, wide, high, gap, line + 6, escape(o.title), table.concat(parts)))
end

---@class cmu.Pair
---@field older integer    index of the older image
---@field younger integer  index of the other image
---@field text string      what is written below the pair

---Writes pairs of images as an SVG file, `columns` pairs per row, with the older image of each pair on the left.
---@param path string
---@param o { title: string, images: mr.Images, pairs: cmu.Pair[], columns: integer }
function M.save_pairs(path, o)
  local rows = {}
  for i, pair in ipairs(o.pairs) do
    local r = (i - 1) // o.columns + 1
    rows[r] = rows[r] or {}
    local width = o.images.images:size(4)
    local between = mr.ones(o.images.images:size(2), o.images.images:size(3), math.max(1, width // 10))
    rows[r][#rows[r] + 1] = {
      image = mr.cat({ o.images.images[pair.older], between, o.images.images[pair.younger] }, 3), text = pair.text }
  end
  M.save(path, { title = o.title, rows = rows, side = 150, lines = 2 })
end

return M
