-- Checks the options of mr.fit about interactions, and finds the interactions of train.
local check = require "moonrank.check"
local core = require "moonrank.core"
local dataset = require "moonrank.data.dataset"
local interactions = require "moonrank.data.interactions"

local M = {}

-- Raises an error if a bound needs the ranking of all items, because a step scores only a sample of them.
local function check_bound(loss)
  for _, term in ipairs(check.field(loss, "_terms") or { { loss = loss } }) do
    local options = check.field(term.loss, "options") or {}
    local bound = options.bound
    local is_curved = bound and not bound.affine and bound.name ~= "none"
    if is_curved and options.slope_at == nil then
      check.fail("mr.fit: bound '%s' of mr.losses.%s needs the ranking of all items, but with unit = 'interaction' a "
        .. "step scores only a sample of them. Pass an affine bound, such as 'minmax'", bound.name, term.loss.name)
    end
    if is_curved and options.slope_at == "value" then
      check.fail("mr.fit: slope_at of the loss is 'value', for which bound '%s' needs the ranking of all items, but "
        .. "with unit = 'interaction' a step scores only a sample of them. Pass slope_at = 'expectation' to the loss",
        bound.name)
    end
  end
end

---Raises an error if other options of mr.fit do not fit the option `unit`, "list" or "interaction".
---@param o mr.FitOptions
function M.check(o)
  if o.unit ~= "interaction" then return end
  dataset.need("mr.fit: unit is 'interaction'", "train", o.train, "users", "items")
  if o.train.lists:has_weights() then
    check.fail("mr.fit: the lists of train have weights, but all interactions of a step have the same weight. Pass "
      .. "unit = 'list', or lists:weighted{weights = false, list_weights = false}")
  end
  check_bound(o.loss)
end

-- Returns the number of items in the catalogue: the option `catalogue`, or else the model's option `items`. Raises an
-- error if train has an item with a higher number.
local function catalogue_of(o)
  local known = (check.field(o.model, "config") or {}).items
  local items, highest = o.catalogue or math.tointeger(known), core.largest(o.train.items)
  check.expect(items, "mr.fit", "catalogue", items, "the number of items: the model has no option items")
  check.expect(items >= highest, "mr.fit", "catalogue", items, "at least %d, the highest number of an item in train",
    highest)
  check.expect(not known or items <= known, "mr.fit", "catalogue", items, "at most %s, the model's number of items",
    tostring(known))
  return items
end

---Returns the interactions of train; false if a step takes lists.
---@param o mr.FitOptions  after M.check
---@return mr.data.Interactions|false
function M.of(o)
  if o.unit ~= "interaction" then return false end
  local negatives = o.negatives or 1
  local found = interactions.of(o.train, { users = core.largest(o.train.users), items = catalogue_of(o),
    negatives = negatives, shared = o.shared_negatives or false, seed = o.seed })
  check.expect(found.count > 0, "mr.fit", "the number of interactions in train", found.count,
    "a row of grade 1 or higher, of a user who does not have every item")
  -- A loss may be constant on interactions, such as one of the first 20 rows where there are 11. All of them have lists
  -- of the same shape.
  if o.loss:count(found:lists(1)) == 0 then
    check.fail("mr.fit: the loss is constant on lists of a relevant item and %d negatives. Pass a larger number of "
      .. "negatives, or another loss", negatives)
  end
  return found
end

return M
