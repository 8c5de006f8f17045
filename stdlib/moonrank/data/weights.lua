-- Weights of rows and weights of lists. Lists (mr.Lists) carry both kinds into datasets, batches and losses.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local probabilities = require "moonrank.losses.probabilities"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

local function is_weights(value) return value == false or type(value) == "table" or check.is_tensor(value) end

local function row(name, help)
  return { name, "mr.Tensor|number[]|false", accept = is_weights, expected = "a tensor, a table of numbers, or false",
    help = help }
end

M.options = declare("mr.WeightOptions", {
  row("weights", "[rows] weight of each row in the loss of its list: 0, or 1e-30 to 1e30; false removes weights"),
  row("list_weights", "[lists] weight of each list in means over lists: 0, or 1e-30 to 1e30; false removes weights"),
})

-- Smallest and largest weight above 0 that are allowed. Within these limits, sums of weights times values fit into
-- float32.
local least, most = 1e-30, 1e30

-- Raises an error if a weight is above 0 and outside the limits `least` and `most`.
local function check_limits(name, x)
  if not x or #x == 0 then return end
  local above, below = x:max():item(), x:gt(0):where(x, 1):min():item()
  local found = above > most and above or below
  if above > most or below < least then
    check.fail("%s: a weight is %g, expected 0 or a number from %g to %g", name, found, least, most)
  end
end

---Returns true if the lists have probabilities of rows (lists:drawn), or stand for whole lists (whole_lists.set).
---@param lists mr.Lists
---@return boolean
function M.are_noted(lists) return (probabilities.of(lists) or whole_lists.of(lists)) ~= nil end

---Gives the lists `made`, which were made from the lists `lists`, what `lists` have beside grades and weights: the
---probabilities of their rows (lists:drawn), and the whole lists for which sampled lists stand. Returns `made`.
---@param lists mr.Lists
---@param made mr.Lists
---@param numbers? mr.Tensor  int64: for each list of `made`, its number in `lists` (default: list i is number i)
---@return mr.Lists
function M.keep(lists, made, numbers)
  probabilities.keep(lists, made, numbers)
  whole_lists.keep(lists, made, numbers)
  return made
end

---Returns a copy of the lists with other weights. Weights that are nil in `o` stay as they are, and false removes them.
---A weight that is neither 0 nor from 1e-30 to 1e30 is an error. Probabilities of the rows (lists:drawn), and the whole
---lists for which sampled lists stand, stay, too.
---@param lists mr.Lists
---@param o { weights?: mr.Tensor|number[]|false, list_weights?: mr.Tensor|number[]|false }
---@return mr.Lists
function M.with(lists, o)
  local function chosen(name)
    local given = o[name]
    if given == nil then return lists[name] end
    if not given or check.is_tensor(given) then return given or nil end
    return core.tensor(given, "float64", "cpu")
  end
  local made = lists:with_weights(chosen "weights", chosen "list_weights")
  check_limits("weights", made.weights)
  check_limits("list_weights", made.list_weights)
  return made
end

return M
