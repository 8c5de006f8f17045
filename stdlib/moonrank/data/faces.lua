-- Synthetic pictures of faces whose age is visible: grey and receding hair, wrinkles, bags under the eyes, children's
-- proportions. They replace photographs in examples and tests of image comparisons.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local tensors = require "moonrank.tensor"

local M = {}

local youngest, oldest = 2, 80
local at_once = 256  -- number of faces rendered in one batch
-- Limits of mr.data.drawn_faces: height and width in pixels, and float32 numbers of all pictures (2^31 numbers are 8
-- GiB).
local largest_side, most_numbers = 4096, 1 << 31

-- Returns sigmoid((x - middle) / width): 0 far below `middle`, 0.5 at it, 1 far above.
local function rise(x, middle, width) return ((x - middle) / width):sigmoid() end

-- Returns a mask of pixels with coordinates (u, v): about 1 within an ellipse around (0, 0), about 0 outside.
local function ellipse(u, v, width, height) return ((1 - (u / width) ^ 2 - (v / height) ^ 2) * 8):sigmoid() end

-- Returns a mask of pixels with coordinates (u, v): 1 at (0, 0), falling to 0 around it like a Gaussian.
local function spot(u, v, width, height) return (-((u / width) ^ 2) - (v / height) ^ 2):exp() end

-- Paints `colour` over a picture where the mask is 1. A picture is a table of a red, a green and a blue plane.
local function over(picture, mask, colour)
  local mixed = {}
  for c = 1, 3 do mixed[c] = picture[c] + mask * (colour[c] - picture[c]) end
  return mixed
end

-- Darkens a picture in proportion to the mask; where the mask is 1, the picture becomes black.
local function darker(picture, mask)
  local shaded = {}
  for c = 1, 3 do shaded[c] = picture[c] * (1 - mask) end
  return shaded
end

local function blend(from, to, share) return from + (to - from) * share end

-- Draws the age and other traits of each face as tensors [faces, 1, 1]. They depend on the seed and on the number of
-- the face.
local function traits_of(count, seed)
  local function uniform(name, low, high)
    return tensors.uniform({ count, 1, 1 },
      { low = low, high = high, seed = seed, stream = "face " .. name, device = "cpu" })
  end
  local function normal(name, mean, sd)
    return tensors.normal({ count, 1, 1 },
      { mean = mean, sd = sd, seed = seed, stream = "face " .. name, device = "cpu" })
  end
  local years = tensors.uniform({ count }, { seed = seed, stream = "face age", device = "cpu", dtype = "float64" })
  local age = (years * (oldest - youngest + 1) + youngest - 0.5):long():float():clamp{ min = youngest, max = oldest }
  return age, {
    age = age:reshape(count, 1, 1),
    across = normal("across", 0, 0.05),
    down = normal("down", 0, 0.05),
    size = normal("size", 1, 0.05),
    tilt = normal("tilt", 0, 0.05),
    width = normal("width", 0.56, 0.03),
    height = normal("height", 0.76, 0.03),
    tone = uniform("tone", 0, 1),
    hair = uniform("hair", 0, 1),
    greys = normal("greys", 54, 8),
    recedes = uniform("recedes", 0, 0.3),
    wrinkles = normal("wrinkles", 50, 8),
    room = uniform("room", 0.1, 0.9),
    warmth = uniform("warmth", -0.15, 0.15),
    light = normal("light", 0, 0.18),
    exposure = normal("exposure", 1, 0.08),
  }
end

-- Draws a picture with the background, the hair and the skin of a head; `features` adds eyes, brows, nose and mouth.
local function head(t, u, v, child, hair)
  local skin = { blend(t.tone, 1, 0.72) * 0.95, blend(t.tone, 1, 0.5) * 0.85, blend(t.tone, 1, 0.35) * 0.72 }
  local room = { t.room + t.warmth, t.room + 0 * t.warmth, t.room - t.warmth }
  local width, height = t.width * (1 + 0.08 * child), t.height * (1 - 0.12 * child)
  local picture = over(room, ellipse(u, v + 0.12, width * 1.2, height * 1.1), hair)
  picture = over(picture, ellipse(u, v, width, height), skin)
  -- vertical coordinate of the hairline on the forehead, which recedes with age
  local line = -0.42 - t.recedes * rise(t.age, 45, 8) + 0.25 * u ^ 2
  return over(picture, ((line - v) * 20):sigmoid() * ellipse(u, v, width * 1.05, height * 1.05), hair)
end

-- Adds eyes, brows, nose and mouth to a picture of a head.
local function features(picture, u, v, child, hair)
  local eyes, open = -0.08 + 0.1 * child, 0.055 + 0.03 * child
  for _, side in ipairs{ -1, 1 } do
    local x = u - side * 0.24
    picture = over(picture, spot(x, v - eyes, 0.12, open), { 0.95, 0.95, 0.95 })
    picture = over(picture, spot(x, v - eyes, 0.05, open), { 0.1, 0.07, 0.05 })
    picture = over(picture, 0.8 * spot(x, v - eyes + 0.14 - 0.1 * x ^ 2, 0.15, 0.035), hair)
  end
  picture = darker(picture, 0.25 * spot(u - 0.03, v - 0.2, 0.05, 0.12))
  return over(picture, spot(u, v - 0.46 + 0.1 * u ^ 2, 0.2 - 0.04 * child, 0.045), { 0.65, 0.25, 0.25 })
end

-- Adds wrinkles and bags under the eyes to a picture of a face, as deep as its age requires.
local function wrinkles(picture, t, u, v)
  local depth = rise(t.age, t.wrinkles, 9)
  for _, height in ipairs{ -0.36, -0.27 } do
    picture = darker(picture, 0.5 * depth * spot(u, v - height + 0.15 * u ^ 2, 0.3, 0.022))
  end
  for _, side in ipairs{ -1, 1 } do
    local x = side * u
    picture = darker(picture, 0.5 * depth * spot(x - 0.2 - 0.35 * (v - 0.32), v - 0.35, 0.03, 0.14))
    picture = darker(picture, 0.35 * depth * spot(x - 0.24, v - 0.06, 0.12, 0.03))
    picture = darker(picture, 0.4 * depth * spot(x - 0.43, v + 0.07, 0.05, 0.06))
  end
  return picture
end

-- Draws faces with the traits `t` and returns the pictures as a tensor [faces, 3, size, size].
local function drawn(t, size, noise, seed, block)
  local places = (core.arange(1, size, 1, "float32", "cpu") - (size + 1) / 2) * (2 / size)
  local x, y = places:reshape(1, 1, size), places:reshape(1, size, 1)
  local u, v = (x - t.across - t.tilt * y) / t.size, (y - t.down + t.tilt * x) / t.size
  local child, grey = 1 - rise(t.age, 13, 3.5), rise(t.age, t.greys, 6)
  local hair = { blend(0.08 + 0.6 * t.hair ^ 2, 0.82, grey), blend(0.06 + 0.42 * t.hair ^ 2, 0.82, grey),
    blend(0.05 + 0.2 * t.hair ^ 2, 0.84, grey) }
  local picture = head(t, u, v, child, hair)
  picture = wrinkles(features(picture, u, v, child, hair), t, u, v)
  local light = t.exposure * (1 + t.light * u)
  for c = 1, 3 do picture[c] = picture[c] * light end
  local planes = core.stack(picture, 2)
  if noise > 0 then
    planes = planes + tensors.normal(core.shape(planes),
      { sd = noise, seed = seed, stream = "face noise " .. block, device = "cpu" })
  end
  return planes:clamp{ min = 0, max = 1 }
end

---Draws `o.count` synthetic faces and returns their ages and their pictures.
---@param o { count: integer, size: integer, noise: number, seed: integer }
---@return mr.Tensor ages      [count] float32, whole years from 2 to 80
---@return mr.Tensor pictures  [count, 3, size, size] float32, 0 to 1
function M.draw(o)
  local ages, traits = traits_of(o.count, o.seed)
  local parts = {}
  for first = 1, o.count, at_once do
    core.check_interrupt()
    local n, own = math.min(at_once, o.count - first + 1), {}
    for name, x in pairs(traits) do own[name] = x:narrow(1, first, n) end
    parts[#parts + 1] = drawn(own, o.size, o.noise, o.seed, #parts + 1)
  end
  return ages, core.cat(parts, 1)
end

local drawn_faces_options = declare("mr.data.DrawnFacesOptions", {
  { "count", "integer", default = 2000, least = 1, help = "number of faces" },
  { "size", "integer", default = 24, least = 1, most = largest_side, help = "height and width in pixels" },
  { "noise", "number", default = 0.1, least = 0, help = "standard deviation of the noise of each pixel" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random faces" },
})

---Checks the options of mr.data.drawn_faces and returns them with defaults filled in.
function M.options(where, options)
  local o = drawn_faces_options:read(where, options)
  local each = 3 * o.size ^ 2 + 20  -- numbers in memory per face: the pixels of 3 colours, and about 20 traits
  check.expect(o.count * each <= most_numbers, where, "count", o.count, "at most %d faces of size %d (8 GiB)",
    most_numbers // each, o.size)
  return o
end

return M
