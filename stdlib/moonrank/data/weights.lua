-- Weights of rows and weights of lists. Lists (mr.Lists) carry both kinds into datasets, batches and losses.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local probabilities = require "moonrank.losses.probabilities"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

local function is_weights(value) return value == false or type(value) == "table" or check.is_tensor(value) end

local function row(name, help)
  return { name, "mr.Tensor|number[]|false", accept = is_weights, expected = "a tensor, a list of numbers, or false",
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

---Returns true if M.keep has something to keep.
function M.are_noted(lists) return (probabilities.of(lists) or whole_lists.of(lists)) ~= nil end

---Lets lists `made` have what `lists` have beside weights: the probabilities of their rows (lists:drawn), and the whole
---lists that sampled lists stand for.
---@param numbers? mr.Tensor  int64, if `made` are only these of `lists`
function M.keep(lists, made, numbers)
  probabilities.keep(lists, made, numbers)
  whole_lists.keep(lists, made, numbers)
  return made
end

---Returns the lists with other weights. Weights that `o` does not have stay as they are. Probabilities of the rows
---(lists:drawn), and the whole lists that sampled lists stand for, stay, too.
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
