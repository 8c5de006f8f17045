-- Computes bounds of sampled lists from the shapes of whole lists. A list of one relevant item and sampled negatives
-- stands for a whole list: all items of the catalogue, which its user ranks, with all relevant items of the user. The
-- bound of a loss on the sampled list comes from the whole list. Whole lists are few, because users with equally many
-- relevant items share one.
local core = require "moonrank.core"
local check = require "moonrank.check"
local operations = require "moonrank.tensor.operations"

local M = {}

-- Maps sampled lists (mr.Lists) to the whole lists for which they stand, which have all items that a user ranks.
local of_sampled = setmetatable({}, { __mode = "k" })

---Whole lists of several shapes, and slopes and offsets of bounds for them.
---@class mr.bounds.Shapes
local Shapes = check.class("mr.bounds.Shapes")

---Makes whole lists: lists of all items that a user ranks. Each has `rows` rows.
---@param rows integer
---@param relevant integer[]  number of relevant rows of each whole list
---@return mr.bounds.Shapes
function M.shapes(rows, relevant)
  return setmetatable({ _rows = rows, _relevant = relevant, _lists = false, _lines = {} }, Shapes)
end

-- Makes whole lists with these numbers of relevant rows.
local function lists_of(rows, relevant)
  local sizes, relevance = {}, core.full({ #relevant, rows }, 0, "float32", "cpu")
  for l in ipairs(relevant) do sizes[l] = rows end
  local ranks = core.arange(1, rows, 1, "float32", "cpu"):reshape(1, rows)
  local most = core.tensor(relevant, "float32", "cpu"):reshape(#sizes, 1)
  relevance = (relevance + most):ge(ranks):reshape(#sizes * rows)
  return core.lists(sizes, relevance, {}, {})
end

---Returns the whole lists, one for each number of relevant rows. They are made in the first call.
---@return mr.Lists
function Shapes:lists()
  self._lists = self._lists or lists_of(self._rows, self._relevant)
  return self._lists
end

-- Largest number of rows of the whole lists that are in memory at a time, unless one list has more.
local most_rows <const> = 1 << 18

-- Returns the slopes of a bound for all whole lists and, if it is affine, the offsets. The lists are made in parts,
-- because there can be millions of rows.
local function lines_of(self, bound, metric, kind)
  local slopes, offsets, at_once = {}, {}, math.max(1, most_rows // self._rows)
  for first = 1, #self._relevant, at_once do
    local part = table.move(self._relevant, first, math.min(first + at_once - 1, #self._relevant), 1, {})
    local lists = lists_of(self._rows, part)
    slopes[#slopes + 1] = bound:_slopes(metric, lists, kind)
    local zeros = core.full({ #part }, 0, kind.dtype, kind.device)
    offsets[#offsets + 1] = bound.affine and bound.apply(zeros, metric, lists) or nil
  end
  return { slope = operations.cat(slopes), offset = bound.affine and operations.cat(offsets) }
end

-- Returns tensors with one entry per whole list (all items of the catalogue, for which a sampled list stands): the
-- slope and the offset of an affine bound, or for another bound only its slope at the metric's mean.
local function line_of(self, bound, metric, kind)
  local key = ("%s %s %s"):format(metric.number, kind.dtype, kind.device)
  local lines = self._lines[bound] or {}
  self._lines[bound] = lines
  lines[key] = lines[key] or lines_of(self, bound, metric, kind)
  return lines[key]
end

---The whole lists that the lists of a batch stand for.
---@class mr.bounds.WholeLists
local WholeLists = check.class("mr.bounds.WholeLists")

---Lets sampled lists stand for whole lists: the bound of a sampled list is then that of its whole list, which has all
---items that the user ranks.
---@param sampled mr.Lists
---@param shapes mr.bounds.Shapes  the whole lists
---@param numbers mr.Tensor        for each sampled list, the number of its whole list; int64 on the CPU
function M.set(sampled, shapes, numbers)
  of_sampled[sampled] = setmetatable({ _shapes = shapes, _numbers = numbers }, WholeLists)
end

---Lets the lists `made`, which were made from the lists `lists`, stand for the same whole lists. If `lists` stand for
---themselves, so does `made`.
---@param lists mr.Lists
---@param made mr.Lists       a copy of `lists`, or some of them
---@param numbers? mr.Tensor  int64: for each list of `made`, its number in `lists` (default: list i is number i)
function M.keep(lists, made, numbers)
  local whole = of_sampled[lists]
  if whole and numbers then
    whole = setmetatable({ _shapes = whole._shapes, _numbers = whole._numbers:rows(numbers:to("cpu")) }, WholeLists)
  end
  of_sampled[made] = whole
end

---Returns the whole lists that sampled lists stand for; nil if they stand for themselves.
---@return mr.bounds.WholeLists?
function M.of(lists) return of_sampled[lists] end

---Returns the number of rows of each whole list: the items that a user ranks.
---@return integer
function WholeLists:rows() return self._shapes._rows end

---Returns the whole lists of `count` copies of all sampled lists, copy after copy: those of the sampled
---lists 1 to n, then again those of the lists 1 to n.
---@return mr.bounds.WholeLists
function WholeLists:repeated(count)
  local numbers = {}
  for copy = 1, count do numbers[copy] = self._numbers end
  return setmetatable({ _shapes = self._shapes, _numbers = operations.cat(numbers) }, WholeLists)
end

---Returns the slope of a bound for each sampled list. A bound that is not affine has its slope at the
---metric's mean over random rankings of the whole list.
---@param like { dtype: string, device: string }  type and device of the result
---@return mr.Tensor  [lists]
function WholeLists:slopes(bound, metric, like)
  local line = line_of(self._shapes, bound, metric, { dtype = like.dtype, device = like.device })
  return line.slope:rows(self._numbers:to(like.device))
end

---Returns the bounded value of each sampled list, from its score and the bound of its whole list.
---@param score mr.Tensor  [lists], the smooth metric of each sampled list
---@return mr.Tensor  [lists]
function WholeLists:bounded(bound, score, metric)
  if bound._takes_numbers then return bound.apply(score, metric, self._shapes:lists(), self._numbers) end
  if not bound.affine then return bound.apply(score, metric, self._shapes:lists():select(self._numbers)) end
  local line = line_of(self._shapes, bound, metric, { dtype = score.dtype, device = score.device })
  local numbers = self._numbers:to(score.device)
  return score * line.slope:rows(numbers) + line.offset:rows(numbers)
end

return M
