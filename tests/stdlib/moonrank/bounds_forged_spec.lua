-- Forged files of tables: format, keys and checksum are right, the numbers are not. Bounds still have the values of the
-- true distribution, because each table is compared with the closed forms of its shape.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

local path = os.tmpname()
local points = 41

local function grades(n, p)
  local row = {}
  for i = 1, n do row[i] = i <= p and 1 or 0 end
  return row
end

local shapes = {}
for i, shape in ipairs{ { "ndcg", 7, 2 }, { "ap", 12, 3 }, { "nrbp", 60, 20 }, { "rr", 30, 1 }, { "ndcg@5", 200, 40 } } do
  local name, n, p = table.unpack(shape)
  local rows = {}
  for k = 1, points do rows[k] = grades(n, p) end
  local low, high = mr.bounds.distribution(name, { n = n, p = p }):min(), mr.bounds.distribution(name, { n = n, p = p }):max()
  local at = {}
  for k = 1, points do at[k] = low + (high - low) * ((k - 1) / (points - 1) * 1.2 - 0.1) end
  shapes[i] = { name = name, n = n, p = p, lists = mr.lists(rows), metric = require "moonrank.metrics".parse(name),
    at = mr.tensor(at, { dtype = "float64" }) }
end

-- Values at all points by the table that bounds read.
local function bounded(shape, kappa)
  local spec = core.distribution_spec("cdf", "exact", 1, 1, "kappa", kappa, 0)
  return core.distribution_bound(shape.at, shape.lists, shape.metric, spec):totable()
end

-- Values at all points by the exact distribution, without a table.
local function true_values(shape, kappa)
  return mr.bounds.distribution(shape.name, { n = shape.n, p = shape.p, method = "exact" }):smooth(shape.at, { kappa = kappa }):totable()
end

local function distance(a, b)
  local most = 0
  for i = 1, points do
    local apart = math.abs(a[i] - b[i])
    most = apart <= most and most or apart  -- a NaN stays
  end
  return most
end

-- The tables as they are made here, by shape: key, first, step and knots { logit, slope, ... }.
local function honest()
  for _, shape in ipairs(shapes) do bounded(shape, 8) end
  core.save_tables(path)
  local names, tensors, _, texts = core.load_tensors(path, "moonrank tables")
  local found = {}
  for i, name in ipairs(names) do found[name] = tensors[i]:totable() end
  local next_knot, by_name, t = 1, {}, 0
  for key in texts[1]:gmatch "[^\n]+" do
    t = t + 1
    local count = found.counts[t]
    by_name[key:match "^[%w@]+"] = { key = key, first = found.places[2 * t - 1], step = found.places[2 * t],
      knots = table.move(found.knots, next_knot, next_knot + count - 1, 1, {}) }
    next_knot = next_knot + count
  end
  for _, shape in ipairs(shapes) do shape.table = by_name[shape.name] end
end

-- Steepnesses that differ by rounding alone: a table of kappa = 8 is right for each, and none was asked for before.
local function kappa_of(i) return 8 * (1 + i * 2.0 ^ -40) end

-- Writes a file with one table under the key of this steepness, and reads it.
local function plant(shape, i, made)
  local key = shape.table.key:gsub(" 0x1p%+3 ", (" %a "):format(kappa_of(i))) .. "\n"
  local counts, knots = mr.tensor({ #made.knots }, { dtype = "int64" }), mr.tensor(made.knots, { dtype = "float64" })
  local places = mr.tensor({ made.first, made.step }, { dtype = "float64" })
  local bytes = key .. ("<i8"):pack(#made.knots) .. core.float64_bytes(knots) .. core.float64_bytes(places)
  core.save_tensors(path, "moonrank tables 2", { "counts", "knots", "places" }, { counts, knots, places }, { "keys", "sha256" },
    { key, core.sha256(bytes) })
  return core.load_tables(path)
end

-- Changes a table { first, step, knots } with random numbers u() from 0 to 1; `other` is the table of another shape.
local forgeries = {
  shifted = function(made, u) made.first = made.first + (u() - 0.5) * 20 * made.step end,
  stretched = function(made, u) made.step = made.step * (0.5 + u()) end,
  ["stretched about the middle"] = function(made, u)
    local width, factor = made.step * (#made.knots // 2 - 1), 0.7 + 0.29 * u()
    made.first, made.step = made.first + width * (1 - factor) / 2, made.step * factor
  end,
  raised = function(made, u)
    local by = (u() - 0.5) * 4
    for k = 1, #made.knots, 2 do made.knots[k] = made.knots[k] + by end
  end,
  flattened = function(made, u)
    local factor = 0.3 + 0.6 * u()
    for k = 1, #made.knots do made.knots[k] = made.knots[k] * factor end
  end,
  steepened = function(made, u)
    local factor = 1.05 + 3 * u()
    for k = 1, #made.knots do made.knots[k] = made.knots[k] * factor end
  end,
  ["of another shape"] = function(made, _, other) made.first, made.step, made.knots = other.first, other.step, other.knots end,
  ["reversed in order"] = function(made)
    local reversed = {}
    for k = #made.knots - 1, 1, -2 do
      reversed[#reversed + 1], reversed[#reversed + 2] = -made.knots[k], made.knots[k + 1]
    end
    made.knots = reversed
  end,
  random = function(made, u)
    local logit, count = -24, #made.knots // 2
    for k = 1, count do
      local rise = 96 / count * u()
      made.knots[2 * k - 1], made.knots[2 * k] = logit, 0.5 * rise / made.step
      logit = logit + rise
    end
  end,
  ["raised in part"] = function(made, u)
    local from, by = math.floor(u() * 0.6 * #made.knots) // 2 * 2 + #made.knots // 10 * 2 + 1, 0.2 + u()
    local ceiling = made.knots[from] + by
    for k = from, #made.knots, 2 do made.knots[k] = math.max(made.knots[k], ceiling) end
  end,
  ["a straight line"] = function(made, u)
    local width = made.step * (#made.knots // 2 - 1)
    local slope = (30 + 20 * u()) / width
    made.step, made.knots = width, { -slope * width * 0.5, slope, slope * width * 0.5, slope }
  end,
  ["the constant 1/2"] = function(made) made.step, made.knots = 0, { 0, 0 } end,
  ["without slopes"] = function(made) for k = 2, #made.knots, 2 do made.knots[k] = 0 end end,
  ["steep between knots"] = function(made, u)
    local k = math.floor((0.3 + 0.4 * u()) * #made.knots) // 2 * 2
    for i = k, k + 20, 2 do made.knots[i] = 1e6 end
  end,
}

describe("a file of tables", function()
  local names = {}
  for name in pairs(forgeries) do names[#names + 1] = name end
  table.sort(names)
  honest()

  it("is used where its tables are those of their shapes", function()
    for i, shape in ipairs(shapes) do
      equal({ plant(shape, i, shape.table) }, { 1 }, shape.name)
      -- a difference that no check sees tells that the table was read
      check(distance(bounded(shape, kappa_of(i)), true_values(shape, 8)) < 2e-6, shape.name)
    end
    equal(core.rejected_tables(), 0)
  end)

  it("changes no value where it is forged, in 210 ways", function()
    local state = 20261124
    local function u()
      state = (state * 6364136223846793005 + 1442695040888963407)
      return (state >> 11) / 2.0 ^ 53
    end
    local wrong, i = {}, 1000
    for _, name in ipairs(names) do
      for round = 0, 14 do
        i = i + 1
        local shape, other = shapes[round % #shapes + 1], shapes[(round + 1) % #shapes + 1]
        local made = { first = shape.table.first, step = shape.table.step, knots = { table.unpack(shape.table.knots) } }
        forgeries[name](made, u, other.table)
        plant(shape, i, made)
        local apart = distance(bounded(shape, kappa_of(i)), true_values(shape, 8))
        if apart >= 1e-4 or apart ~= apart then wrong[#wrong + 1] = ("%s, %s: %g"):format(name, shape.name, apart) end
      end
    end
    check(#wrong == 0, #wrong .. " of 210 were believed:\n" .. table.concat(wrong, "\n"))
    check(core.rejected_tables() > 100, core.rejected_tables() .. " were made anew")
  end)
  os.remove(path)
end)
