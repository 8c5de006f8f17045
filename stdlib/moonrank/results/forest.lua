-- Grows regression trees over the parameters of trials, and computes each parameter's share in the variance of a tree's
-- function (functional analysis of variance: Hutter, Hoos and Leyton-Brown 2014). Each parameter's axis is divided into
-- cells. A leaf of a tree covers some cells of each axis, and the tree is constant there, so its means are sums over
-- leaves.
local M = {}

---@class mr.results.Dimension
---@field name string
---@field codes integer[]    the cell of each trial; 0 if the parameter does not apply
---@field weights number[]   the share of each cell; their sum is 1
---@field ordered boolean    whether cells are split by their order; else any cells from the others

---@class mr.results.Leaf
---@field value number
---@field runs table<integer, integer[]>   by dimension: first and last cell of each run of cells; nil for all cells

local function whole_box(dimensions)
  local box = {}
  for j, each in ipairs(dimensions) do
    local cells = {}
    for c = 1, #each.weights do cells[c] = c end
    box[j] = { cells = cells }
  end
  return box
end

-- Returns the cells of a dimension (parameter) that contain trials of a tree node, and for each cell the weight of its
-- trials and the sum of their values. Returns nil if the parameter does not apply to all trials of the node.
local function sums_of(grower, dimension, cells, nodes)
  local counts, sums, weighted = grower.counts, grower.sums, grower.weighted
  local weight, codes = grower.weight, dimension.codes
  if dimension.ordered and #nodes < #cells then
    for i = 1, #nodes do counts[codes[nodes[i]]] = 0 end
  else
    for i = 1, #cells do counts[cells[i]] = 0 end
  end
  local order = {}
  for i = 1, #nodes do
    local k = nodes[i]
    local c, w = codes[k], weight[k]
    if c == 0 then return nil end
    local count = counts[c]
    if count == 0 then
      order[#order + 1], counts[c], sums[c] = c, w, weighted[k]
    else
      counts[c], sums[c] = count + w, sums[c] + weighted[k]
    end
  end
  return order, counts, sums
end

-- Sorts the cells that contain trials. Cells of an ordered dimension keep the order of their numbers. Cells of an
-- unordered dimension are sorted by the mean value of their trials.
local function sort_cells(order, counts, sums, ordered)
  if ordered then return table.sort(order) end
  table.sort(order, function(a, b)
    local x, z = sums[a] / counts[a], sums[b] / counts[b]
    if x ~= z then return x < z end
    return a < b
  end)
end

-- Returns the sum of squares of a dimension's best split, and how many of the sorted cells go left; nil instead of this
-- number if no split leaves at least `leaf` trials on each side.
local function best_of(grower, counts, sums, order, total, sum)
  local left, left_sum, best, at = 0, 0.0, 0.0, nil
  for i = 1, #order - 1 do
    left, left_sum = left + counts[order[i]], left_sum + sums[order[i]]
    local right, right_sum = total - left, sum - left_sum
    if left >= grower.leaf and right >= grower.leaf then
      local explained = left_sum * left_sum / left + right_sum * right_sum / right
      if explained > best then best, at = explained, i end
    end
  end
  return best, at
end

-- Returns the set of cells that go to the left side of a split. In an ordered dimension, half of the empty cells at the
-- split go to each side. In an unordered dimension, empty cells go to the side with more trials.
local function left_cells(dimension, cells, order, at, counts, total)
  local left, set = 0, {}
  for i = 1, at do
    left = left + counts[order[i]]
    set[order[i]] = true
  end
  local last = (order[at] + order[at + 1] - 1) // 2
  for _, c in ipairs(cells) do
    if dimension.ordered then set[c] = c <= last or nil
    elseif counts[c] == 0 then set[c] = 2 * left >= total or nil
    end
  end
  return set
end

-- Returns the split that explains the largest sum of squares of a node. Between dimensions whose best splits differ by
-- rounding only, the first one wins.
local function find_split(grower, nodes, box, total, sum)
  -- Smaller improvements of a split are rounding errors, because the values have mean square 1.
  local rounding = 1e-10 * total
  local found = { explained = sum * sum / total + rounding }
  for j, dimension in ipairs(grower.dimensions) do
    local cells = box[j].cells
    local order, counts, sums
    if #cells > 1 then order, counts, sums = sums_of(grower, dimension, cells, nodes) end
    if order and #order > 1 then
      sort_cells(order, counts, sums, dimension.ordered)
      local explained, at = best_of(grower, counts, sums, order, total, sum)
      if explained > found.explained + rounding then
        found = { explained = explained, j = j, set = left_cells(dimension, cells, order, at, counts, total) }
      end
    end
  end
  return found
end

local function runs_of(cells)
  local runs = {}
  for _, c in ipairs(cells) do
    if runs[#runs] == c - 1 then runs[#runs] = c else runs[#runs + 1], runs[#runs + 2] = c, c end
  end
  return runs
end

local function add_leaf(grower, box, value)
  local leaf = { value = value, runs = {} }
  for j, dimension in ipairs(grower.dimensions) do
    if #box[j].cells < #dimension.weights then leaf.runs[j] = runs_of(box[j].cells) end
  end
  grower.leaves[#grower.leaves + 1] = leaf
end

local function half(box, j, set, wanted)
  local cells = {}
  for _, c in ipairs(box[j].cells) do
    if (set[c] or false) == wanted then cells[#cells + 1] = c end
  end
  local copy = table.move(box, 1, #box, 1, {})
  copy[j] = { cells = cells }
  return copy
end

local function grow(grower, nodes, box)
  local total, sum = 0, 0.0
  for _, k in ipairs(nodes) do
    total = total + grower.weight[k]
    sum = sum + grower.weighted[k]
  end
  local split = total >= 2 * grower.leaf and #nodes > 1 and find_split(grower, nodes, box, total, sum) or {}
  if not split.j then return add_leaf(grower, box, sum / total) end
  local codes, left, right = grower.dimensions[split.j].codes, {}, {}
  for _, k in ipairs(nodes) do
    local side = split.set[codes[k]] and left or right
    side[#side + 1] = k
  end
  grow(grower, left, half(box, split.j, split.set, true))
  grow(grower, right, half(box, split.j, split.set, false))
end

---Grows a regression tree and returns its leaves. Each split explains as much of the node's sum of squares as possible.
---A node is split only on parameters that apply to all of its trials.
---@param y number[]        by trial, with a mean square near 1
---@param weight integer[]  number of times that each trial counts
---@param leaf integer      smallest sum of the weights of a leaf's trials
---@return mr.results.Leaf[]
function M.tree(dimensions, y, weight, leaf)
  local grower = { dimensions = dimensions, weighted = {}, weight = weight, leaf = leaf, leaves = {}, counts = {},
    sums = {} }
  local nodes = {}
  for k = 1, #y do
    grower.weighted[k] = weight[k] * y[k]
    if weight[k] > 0 then nodes[#nodes + 1] = k end
  end
  grow(grower, nodes, whole_box(dimensions))
  return grower.leaves
end

-- Returns the total weight of the cells in some runs of consecutive cells of a dimension.
local function share_of(weights, runs)
  local share = 0.0
  for r = 1, #runs, 2 do
    for c = runs[r], runs[r + 1] do share = share + weights[c] end
  end
  return share
end

-- Returns the share of the parameter space that each leaf covers, along each dimension and in total, and the leaf's
-- value minus the tree's mean. Also returns the mean and variance of the tree's function.
local function measured(dimensions, leaves)
  local shares, mean, variance = {}, 0.0, 0.0
  for l, leaf in ipairs(leaves) do
    local all, each = 1.0, {}
    for j, runs in pairs(leaf.runs) do each[j] = share_of(dimensions[j].weights, runs) end
    for j = 1, #dimensions do all = all * (each[j] or 1.0) end
    shares[l] = { all = all, each = each }
    mean = mean + all * leaf.value
  end
  for l, leaf in ipairs(leaves) do
    shares[l].value = leaf.value - mean
    variance = variance + shares[l].all * shares[l].value ^ 2
  end
  return shares, mean, variance
end

-- Computes the variance due to dimension j alone: the mean square over j of the mean over all other dimensions.
local function one_way(weights, leaves, shares, j)
  local steps, square, sum = {}, 0.0, 0.0
  for c = 1, #weights + 1 do steps[c] = 0.0 end
  local function add(first, last, value)
    steps[first], steps[last + 1] = steps[first] + value, steps[last + 1] - value
  end
  for l, leaf in ipairs(leaves) do
    local share, runs = shares[l], leaf.runs[j]
    if runs then
      local value = share.value * share.all / share.each[j]
      for r = 1, #runs, 2 do add(runs[r], runs[r + 1], value) end
    else
      add(1, #weights, share.value * share.all)
    end
  end
  for c = 1, #weights do
    sum = sum + steps[c]
    square = square + weights[c] * sum * sum
  end
  return square
end

-- Adds a value to the blocks of cells that two dimensions' runs (consecutive cells) span. The grid holds differences
-- along both dimensions, so only the corners of a block change. Prefix sums give the cells' values later.
local function add_block(grid, stride, a, b, value)
  for r = 1, #a, 2 do
    local first, last = (a[r] - 1) * stride, a[r + 1] * stride
    for s = 1, #b, 2 do
      local low, high = b[s], b[s + 1] + 1
      grid[first + low], grid[first + high] = grid[first + low] + value, grid[first + high] - value
      grid[last + low], grid[last + high] = grid[last + low] - value, grid[last + high] + value
    end
  end
end

-- Computes the variance due to dimensions j and k, with the parts due to j alone and to k alone. The tree's function
-- less its mean is averaged over all other dimensions. The result is the mean square of this average over the pairs of
-- cells of j and k, weighted by their shares.
local function two_way(dimensions, leaves, shares, j, k)
  local of_j, of_k = dimensions[j].weights, dimensions[k].weights
  local stride, grid, square = #of_k + 1, {}, 0.0
  for i = 1, (#of_j + 1) * stride do grid[i] = 0.0 end
  local all_j, all_k = { 1, #of_j }, { 1, #of_k }
  for l, leaf in ipairs(leaves) do
    local share = shares[l]
    local value = share.value * share.all / ((share.each[j] or 1.0) * (share.each[k] or 1.0))
    add_block(grid, stride, leaf.runs[j] or all_j, leaf.runs[k] or all_k, value)
  end
  local above = {}
  for c = 1, #of_k do above[c] = 0.0 end
  for r = 1, #of_j do
    local sum, row, base = 0.0, 0.0, (r - 1) * stride
    for c = 1, #of_k do
      sum = sum + grid[base + c]
      local value = above[c] + sum
      above[c] = value
      row = row + of_k[c] * value * value
    end
    square = square + of_j[r] * row
  end
  return square
end

---Returns the mean and variance of a tree's function over all combinations of cells, each weighted by its share of the
---space. It also returns the part of the variance due to each single dimension, and the part due to each pair of
---dimensions beyond their single parts.
---@param leaves mr.results.Leaf[]
---@return { mean: number, variance: number, single: number[], pair: table<integer, table<integer, number>> }
function M.variance(dimensions, leaves)
  local shares, mean, variance = measured(dimensions, leaves)
  local found, used = { mean = mean, variance = variance, single = {}, pair = {} }, {}
  for _, leaf in ipairs(leaves) do
    for j in pairs(leaf.runs) do used[j] = true end
  end
  for j, dimension in ipairs(dimensions) do
    found.single[j] = used[j] and one_way(dimension.weights, leaves, shares, j) or 0.0
    found.pair[j] = {}
  end
  for j = 1, #dimensions do
    for k = j + 1, #dimensions do
      local both = used[j] and used[k]
        and two_way(dimensions, leaves, shares, j, k) - found.single[j] - found.single[k] or 0.0
      found.pair[j][k] = math.max(0.0, both)  -- rounding errors can make an interaction's variance negative
    end
  end
  return found
end

return M
