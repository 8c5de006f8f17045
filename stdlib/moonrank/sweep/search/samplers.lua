-- Samplers choose the parameters of trials. A suggestion depends only on the study's seed, the trial's number and the
-- results of earlier generations. The results of a study then depend neither on the number of workers nor on
-- interruptions.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local generations = require "moonrank.sweep.search.generations"
local settings = require "moonrank.system.settings"
require "moonrank.tensor"  -- adds the methods of tensors that are written in Lua

local M = {}

---@class mr.sweep.Trial
---@field number integer              from 1
---@field params table<string, any>
---@field value? number               the trial's result
---@field state string                "done", "pruned" or "failed"

---@class mr.sweep.Sampler
---@field name string
---@field space mr.sweep.Space
---@field seed integer
local Sampler = check.class("mr.sweep.Sampler")
Sampler.first = {}

---Returns `count` random numbers in [0, 1) for a parameter of a trial. They are computed from the seed, the trial's
---number and the parameter's name, so they do not depend on earlier draws.
---@param seed integer  of the study
function M.random(seed, number, name, count)
  local use = ("sweep trial %d parameter %s"):format(number, name)
  return core.uniform({ count }, 0, 1, seed, use, "float64", "cpu"):totable()
end

local function random_value(self, number, entry)
  return entry.part:at(M.random(self.seed, number, entry.name, 1)[1])
end

---Returns the parameters with which trial `number` should run, by name.
---@param number integer             of the trial, from 1
---@param history? mr.sweep.Trial[]  ended trials; numbers from generation_of(number) on do not count
---@return table<string, any>
function Sampler:suggest(number, history)
  local params = self._suggest(self, number, generations.before(history or {}, self:generation_of(number)))
  local given = self.first[number]
  if not given then return params end
  return self.space:draw(function(entry)
    if given[entry.name] ~= nil then return given[entry.name] end
    if params[entry.name] ~= nil then return params[entry.name] end
    return random_value(self, number, entry)
  end)
end

---Sets the parameters of the first trials: trial i gets `points[i]`, and the sampler chooses the parameters that are
---missing there. It is an error for a grid, and if a parameter or value is not in the space.
---@param points table<string, any>[]  parameters by name, for each of the first trials
function Sampler:begin_with(points)
  if self.name == "grid" then
    check.fail "mr.sweep: first does not apply to the sampler grid, which runs every point. Pass another sampler"
  end
  local parts = {}
  for _, entry in ipairs(self.space:entries()) do parts[entry.name] = entry.part end
  for key, point in pairs(points) do
    check.expect(math.type(key) == "integer" and key <= #points and type(point) == "table", "mr.sweep",
      ("first[%s]"):format(key), point, "a point, a table of values by name, as in first = {{lr = 0.01}}")
    for _, name in ipairs(check.names(point)) do
      if not parts[name] then check.unknown("parameter of the space for first", name, self.space:names()) end
      check.expect(parts[name]:contains(point[name]), "mr.sweep", ("first[%d].%s"):format(key, name),
        point[name], "a value of %s", parts[name])
    end
  end
  self.first = points
end

---Returns the number of the first trial in a trial's generation (consecutive trials that are suggested from the same
---results). All trials with smaller numbers must have ended when the trial's parameters are suggested. The result is 1
---if the sampler does not use results.
function Sampler:generation_of(number)
  local length = self._options.generation
  return length and generations.first(number, length) or 1
end

---Returns how many trials the sampler can suggest: the size of a grid; nil if the number is not limited.
function Sampler:count()
  if self.name == "grid" then return self.space:count() end
end

---Returns the sampler's name and options, and the parameters set by `begin_with`, as text.
function Sampler:describe()
  local first = #self.first > 0 and ", first " .. settings.text("mr.sweep", "first", self.first) or ""
  return generations.described(self.name, self._options) .. first
end

function Sampler:__tostring() return self:describe() end

local function random_params(self, number)
  return self.space:draw(function(entry) return random_value(self, number, entry) end)
end

local function new(name, space, seed, options, suggest)
  return setmetatable({ name = name, space = space, seed = seed, _options = options, _suggest = suggest }, Sampler)
end

local makers = {}
local sobol_dimensions = 64

local no_options = declare("mr.sweep.NoOptions", {})

function makers.grid(space, seed, options)
  local o = no_options:read("sampler grid", options)
  space:grid(1)  -- raises an error at once if the space has a parameter without grid values
  return new("grid", space, seed, o, function(self, number) return self.space:grid(number) end)
end

function makers.random(space, seed, options)
  return new("random", space, seed, no_options:read("sampler random", options), random_params)
end

-- Makes the Sobol sampler. Each parameter, also a conditional one, has its own dimension of the Sobol sequence and its
-- own random digital shift. The shift is combined with every point by exclusive or of bits, which keeps the points
-- evenly spread. The first point is the shifted origin.
function makers.sobol(space, seed, options)
  local o = no_options:read("sampler sobol", options)
  local shifts = {}
  for _, entry in ipairs(space:entries()) do
    check.expect(entry.slot <= sobol_dimensions, "sampler sobol", "the number of parameters", #space:entries(),
      "at most %d", sobol_dimensions)
    -- parameters of one name under different conditions need different shifts, so the slot (index in the space) is in
    -- the key
    local u = M.random(seed, 0, ("%d %s"):format(entry.slot, entry.name), 1)[1]
    shifts[entry.slot] = math.floor(u * 2 ^ 32)
  end
  return new("sobol", space, seed, o, function(self, number)
    return self.space:draw(function(entry)
      return entry.part:at((core.sobol_bits(number - 1, entry.slot) ~ shifts[entry.slot]) / (1 << 32))
    end)
  end)
end

local tpe_options = declare("mr.sweep.TpeOptions", {
  { "generation", "integer", least = 1, shown = generations.default_shown,
    help = "number of trials that are suggested from the same results" },
  { "startup", "integer", default = 10, least = 1, help = "number of first trials that are drawn at random" },
  { "candidates", "integer", default = 8, least = 1,
    help = "draws of which the best is taken; more make trials similar" },
  { "good", "number", default = 0.15, above = 0, below = 1, help = "share of the results that counts as good" },
})

function makers.tpe(space, seed, options, direction, defaults)
  local tpe = require "moonrank.sweep.search.tpe"
  local o = tpe_options:read("sampler tpe", options)
  o.generation = o.generation or defaults.generation or 10
  return new("tpe", space, seed, o, function(self, number, history)
    if #history < o.startup then return random_params(self, number) end
    -- Earlier trials of this generation have no results yet; they count as bad ones, which spreads the suggestions.
    local seen, params = table.move(history, 1, #history, 1, {}), nil
    for each = generations.first(number, o.generation), number do
      params = tpe.suggest(self.space, seen, o, direction, function(entry, count)
        return M.random(seed, each, entry.name, count)
      end)
      seen[#seen + 1] = { number = each, params = params, state = "running" }
    end
    return params
  end)
end

---Returns the names of all samplers (grid, random, sobol, tpe), sorted.
function M.names() return check.names(makers) end

---Makes a sampler from its name, or from a table with the name and options: {"tpe", generation = 20}.
---@param how string|table
---@param seed integer                        of the study
---@param direction? string                   "maximize" (default) or "minimize"
---@param defaults? { generation?: integer }  values of options that `how` leaves out
function M.make(how, space, seed, direction, defaults)
  local name, options = generations.named(how)
  if not makers[name] then check.unknown("sampler", name, M.names()) end
  direction = check.choice("sampler " .. name, "direction", direction or "maximize", { "maximize", "minimize" })
  return makers[name](space, seed, options, direction, defaults or {})
end

return M
