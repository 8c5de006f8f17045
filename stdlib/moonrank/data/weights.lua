-- Weights of rows and of lists, which lists carry: in data sets, batches and calls of losses.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

local function is_weights(value) return value == false or type(value) == "table" or check.is_tensor(value) end

local function row(name, help)
  return { name, "mr.Tensor|number[]|false", accept = is_weights, expected = "a tensor, a list of numbers, or false",
    help = help }
end

M.options = declare("mr.WeightOptions", {
  row("weights", "[rows] weight of each row in the loss of its list, finite and 0 or more; false removes weights"),
  row("list_weights", "[lists] weight of each list in means over lists, finite and 0 or more; false removes weights"),
})

---Returns the lists with other weights. Weights that `o` does not have stay as they are.
---@param lists mr.Lists
---@param o mr.WeightOptions
---@return mr.Lists
function M.with(lists, o)
  local function chosen(name)
    local given = o[name]
    if given == nil then return lists[name] end
    if not given or check.is_tensor(given) then return given or nil end
    return core.tensor(given, "float64", "cpu")
  end
  return lists:with_weights(chosen "weights", chosen "list_weights")
end

return M
