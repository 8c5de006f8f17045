-- Draws the results of the grid experiment as heat maps: a panel for each setting (data set and model), with a row for
-- each loss and a column for each bound. A colour is the change of the test metric against no bound.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

local families = {
  { "smooth metrics", "ndcg", "approx_ndcg", "soft_rank", "neural_ndcg", "top_n_rank", "ap", "tfmap", "rr", "log_rr",
    "climf", "nrbp" },
  { "soft sorting and top k", "softsort_ndcg", "projected_ndcg", "soft_top_k", "soft_precision", "soft_recall",
    "soft_hit" },
  { "pairs, weighted", "lambdarank", "lambdarank_ap", "lambdarank_rr", "lambdarank_nrbp", "lambdarank_precision",
    "ndcg_loss_1", "ndcg_loss_2", "ndcg_loss_2pp" },
  { "pairs", "ranknet", "ranknet_all_pairs", "ranknet_upsampled", "direct_ranker", "hinge", "bpr", "warp", "lambdafm" },
  { "lists", "listnet", "softmax_cross_entropy", "listmle", "p_listmle" },
  { "softmax and negatives", "sl", "psl", "bsl", "bsl_per_positive", "sl_at_k", "sampled_softmax", "full_softmax",
    "llpauc", "llpauc_as_coded" },
  { "random rankings", "pl_rank", "policy_gradient" },
  { "rows", "mse", "bce", "gbce", "squared_hinge", "ordinal" },
}

-- The order of the heat map's columns, one per bound: affine bounds are first. Bounds that this list does not name
-- become the last columns.
local first_bounds = { "minmax", "expectation", "expectation_max", "zscore", "distribution", "distribution_log",
  "distribution_logit" }

-- Sorts `names`: first the names that `first` has, in the order of `first`, then all other names.
local function ordered(names, first)
  local known, found = {}, {}
  for _, name in ipairs(names) do known[name] = true end
  for _, list in ipairs{ first, names } do
    for _, name in ipairs(list) do
      if known[name] then found[#found + 1], known[name] = name, nil end
    end
  end
  return found
end

---Names of all bounds except "none", in the order of the columns of the heat maps.
---@return string[]
function M.bounds()
  local names = {}
  for _, name in ipairs(mr.bounds.names()) do names[#names + 1] = name ~= "none" and name or nil end
  return ordered(names, first_bounds)
end

---Groups losses by family, e.g. losses of pairs of rows. A group is an array: the name of the family, then its losses.
---Losses without a family are in the last group, "others".
---@param losses string[]
---@return string[][]
function M.families(losses)
  local found, rest = {}, {}
  for _, name in ipairs(losses) do rest[name] = true end
  for _, family in ipairs(families) do
    local members = { family[1] }
    for i = 2, #family do
      if rest[family[i]] then members[#members + 1], rest[family[i]] = family[i], nil end
    end
    if #members > 1 then found[#found + 1] = members end
  end
  local others = { "others" }
  for _, name in ipairs(losses) do others[#others + 1] = rest[name] and name or nil end
  if #others > 1 then found[#found + 1] = others end
  return found
end

local most = 5  -- changes beyond this many standard errors get the darkest colour

local caption = ([[
Change of each loss's metric on test against the same loss without a bound, in standard errors of its mean over users or
queries: red is better, blue worse, colours end at %d. + and - are significant (5 %%, Holm's correction over all cells).
Empty: no bound that applies, or no result.]]):format(most)

local marks = { [1] = "+", [0] = "", [-1] = "-" }

-- Returns the heat map of one setting (data set and model): its values, its significance marks (+ and -), and the names
-- of its rows. A row without values, with the family's name, is above the losses of each family. `cells` has the
-- results by "loss bound".
local function rows_of(cells, groups, bounds)
  local values, labels, names = {}, {}, {}
  local function add(name, loss)
    local numbers, words = {}, {}
    for c, bound in ipairs(bounds) do
      local cell = loss and cells[loss .. " " .. bound]
      numbers[c] = cell and cell.in_errors or 0 / 0
      words[c] = cell and cell.change and marks[protocol.side(cell)] or ""
    end
    values[#values + 1], labels[#labels + 1], names[#names + 1] = numbers, words, name
  end
  for _, group in ipairs(groups) do
    add(group[1]:upper())
    for i = 2, #group do add(group[i], group[i]) end
  end
  return values, labels, names
end

---Draws a heat map for each setting (data set and model): the change of each loss's test metric by each bound, in
---standard errors.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell> }[]  one entry per setting; cells by "loss bound"
---@param losses string[]
---@param title string
---@return mr.Figure
function M.draw(grids, losses, title)
  local groups, bounds = M.families(losses), M.bounds()
  local panels = { columns = #grids, title = title, width = 170 + 172 * #grids + 70, caption = caption }
  for i, each in ipairs(grids) do
    local values, labels, names = rows_of(each.cells, groups, bounds)
    local blank = {}
    for r = 1, #names do blank[r] = "" end
    panels[i] = mr.plot.heatmap{ values = values, labels = labels, x = bounds, y = i == 1 and names or blank,
      title = each.set.title, diverging = true, zrange = { -most, most },
      zlabel = i == #grids and "change in standard errors" or nil, legend = i < #grids and "none" or "auto" }
    panels.height = 17 * #names + 240
  end
  return mr.plot.facets(panels)
end

return M
