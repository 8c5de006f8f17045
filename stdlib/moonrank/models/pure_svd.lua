-- PureSVD (Cremonesi, Koren & Turrin 2010): vectors of users and items from a truncated singular value decomposition of
-- the matrix of grades. Subspace iteration on the matrix of inner products finds the singular vectors of the smaller
-- side, users or items.
local core = require "moonrank.core"
local tensors = require "moonrank.tensor"

local M = {}

-- A column is spanned by the columns before it if less than this share of its length is left beside them: the rest is
-- rounding error, which would point in any direction.
local least_share <const> = 1e-13

local function length_of(column) return (column * column):sum():sqrt():item() end

-- Makes the columns of a matrix orthonormal (Gram-Schmidt). Each column is projected twice, to reduce rounding errors.
-- A column that the columns before it span becomes 0.
local function orthonormal(matrix)
  local done
  for k = 1, matrix:size(2) do
    local column = matrix:narrow(2, k, 1)
    local before = length_of(column)
    for _ = 1, done and 2 or 0 do column = column - done:matmul(done:t():matmul(column)) end
    local length = length_of(column)
    column = length > least_share * before and column / length or column * 0
    done = done and core.cat({ done, column }, 2) or column
  end
  return done
end

-- Returns the matrix of grades [users, items] in float64, with 0 for pairs that are not in `train`.
local function grades_of(train, users, items)
  local lists = train.lists
  local user_of, item_of = lists:spread(train.users):to("cpu"):double(), train.items:to("cpu"):double()
  local cells = ((user_of - 1) * items + item_of):long()
  local grades = lists.relevance:to("cpu"):double()
  return tensors.zeros({ users * items }, { dtype = "float64", device = "cpu" })
    :scatter_add(1, cells, grades):reshape(users, items)
end

---Returns float64 vectors of users and of items, whose inner products are the matrix of grades, projected onto its
---first `factors` singular vectors. If there are fewer users or fewer items, there are as few singular vectors.
---@param train mr.Dataset  with users and items
---@param o { factors: integer, iterations: integer, seed: integer }
function M.vectors(train, users, items, o)
  local grades = grades_of(train, users, items)
  local rows = users <= items and grades or grades:t()
  local gram, side = rows:matmul(rows:t()), math.min(users, items)
  local first = tensors.normal({ side, math.min(o.factors, side) },
    { seed = o.seed, dtype = "float64", device = "cpu" })
  local basis = orthonormal(first)
  for _ = 1, o.iterations do
    core.check_interrupt()
    basis = orthonormal(gram:matmul(basis))
  end
  local others = rows:t():matmul(basis)
  if users <= items then return basis, others end
  return others, basis
end

return M
