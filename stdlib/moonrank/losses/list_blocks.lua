-- Computes losses of pairs that a script defines by blocks of pairs, so that a block's arrays stay in the processor's
-- cache.
local core = require "moonrank.core"
local operations = require "moonrank.tensor.operations"

local M = {}

-- largest number of pairs of a block
local most_pairs <const> = 65536

-- Returns an upper limit of the number of pairs of n rows with unequal grades.
local function pairs_of(n) return n * n // 2 end

-- Returns blocks of lists: their first and last list, the number of rows before them, and their number of rows.
local function blocks_of(sizes)
  local blocks, row = {}, 0
  for l, n in ipairs(sizes) do
    local block = blocks[#blocks]
    if not block or block.rows > 0 and block.pairs + pairs_of(n) > most_pairs then
      block = { first = l, before = row, rows = 0, pairs = 0 }
      blocks[#blocks + 1] = block
    end
    row = row + n
    block.last, block.rows, block.pairs = l, block.rows + n, block.pairs + pairs_of(n)
  end
  return blocks
end

-- Returns the pairs of a block of lists in pieces. Only a block of one list has more than one piece.
local function pieces_of(part)
  local found = part:pairs()
  if part.count > 1 or found.count <= most_pairs then return { found } end
  local pieces = {}
  for first = 1, found.count, most_pairs do
    local count = math.min(most_pairs, found.count - first + 1)
    pieces[#pieces + 1] = { better = found.better:narrow(1, first, count), worse = found.worse:narrow(1, first, count),
      lists = core.lists({ count }, core.full({ count }, 0, "float32", "cpu"), {}, {}), count = count }
  end
  return pieces
end

---Returns whether the lists have so many pairs on the CPU that blocks are faster.
function M.are_needed(scores, lists)
  return scores.device == "cpu" and lists.rows > 256 and pairs_of(lists.rows) // lists.count > 2 * most_pairs
end

---Returns the values of a loss, one per list, and computes its derivatives by the scores with them.
---@param scores mr.Tensor  [rows] on the CPU
---@param lists mr.Lists    at least one row
---@param weights mr.Tensor|false|nil  [rows]
---@param values_of fun(scores: mr.Tensor, lists: mr.Lists, weights: mr.Tensor?, found: mr.Pairs): mr.Tensor
---   sums over some pairs of some of the lists
---@return mr.Tensor  [lists]
function M.values(scores, lists, weights, values_of)
  local found, slopes = {}, {}
  for i, block in ipairs(blocks_of(core.integers(lists.sizes:to "cpu"))) do
    local part = lists:select(core.arange(block.first, block.last, 1, "int64", "cpu"))
    local first = block.rows > 0 and block.before + 1 or 1
    local function own(x) return x:narrow(1, first, block.rows) end
    local x = own(scores:detach())
    if scores.tracked then x = x:requires_grad() end
    for _, piece in ipairs(pieces_of(part)) do
      local value = values_of(x, part, weights and own(weights), piece)
      if value.tracked then value:sum():backward() end
      found[i] = found[i] and found[i] + value:detach() or value:detach()
    end
    slopes[i] = x.grad or x:detach() * 0
  end
  local value = operations.cat(found)
  return scores.tracked and core.with_slopes(scores, lists, value, operations.cat(slopes)) or value
end

return M
