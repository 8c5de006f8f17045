-- Findings of the grid experiment (every loss under every bound in five settings of data and model), as text and
-- tables. The argument `grids` of functions here has an entry per setting: its cells (results of a loss under a bound)
-- by "loss bound", and the reasons for missing cells.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

-- Returns the cells (losses under bounds) of a setting whose change against no bound counts in summaries. Such a cell,
-- and the same loss without a bound, have only training runs that converged within the cap on processor time and rank
-- better than random. `key_of(name)` returns the key of a cell, "loss bound", for each of `names`.
local function with_change(cells, names, key_of)
  local found = {}
  for _, name in ipairs(names) do
    local cell = cells[key_of(name)]
    if cell and cell.summarised then found[#found + 1] = cell end
  end
  return found
end

local function of_loss(cells, loss, bounds)
  return with_change(cells, bounds, function(bound) return loss .. " " .. bound end)
end
local function of_bound(cells, bound, losses)
  return with_change(cells, losses, function(loss) return loss .. " " .. bound end)
end

-- Summarises cells (losses under bounds): how many are significantly better and how many significantly worse than no
-- bound, the sum of changes, and the cell with the largest change.
local function tally(cells)
  local found = { gains = 0, loses = 0, count = #cells, sum = 0.0 }
  for _, cell in ipairs(cells) do
    local side = protocol.side(cell)
    found.gains, found.loses, found.sum = found.gains + (side > 0 and 1 or 0), found.loses + (side < 0 and 1 or 0),
      found.sum + cell.change
    if not found.best or cell.change > found.best.change then found.best = cell end
  end
  return found
end

local function counts(found) return ("+%d -%d of %d"):format(found.gains, found.loses, found.count) end

-- Returns the head of a column of a setting (data set and model), with the setting's title if there are several.
local function head(grids, each, name) return #grids > 1 and each.set.title .. ", " .. name or name end

---A table with a row per loss. For each setting (data set and model) it has the mean test metric without a bound, how
---many bounds make it significantly better or worse, and the bound with the largest gain.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell> }[]  one entry per setting; cells by "loss bound"
---@param groups string[][]  losses by family: the family's name, then its losses
---@param bounds string[]
function M.by_loss(grids, groups, bounds)
  local columns, rows = { "loss", "kind" }, {}
  for _, each in ipairs(grids) do
    table.move({ each.set.title .. ", none", head(grids, each, "bounds"), head(grids, each, "best") }, 1, 3,
      #columns + 1, columns)
  end
  for _, group in ipairs(groups) do
    for i = 2, #group do
      local row = { group[i], group[1] }
      for _, each in ipairs(grids) do
        local free, found = each.cells[group[i] .. " none"], tally(of_loss(each.cells, group[i], bounds))
        row[#row + 1] = free and ("%.4f"):format(free.mean) or ""
        row[#row + 1] = found.count > 0 and counts(found) or ""
        row[#row + 1] = found.best and ("%+.4f %s"):format(found.best.change, found.best.bound) or ""
      end
      rows[#rows + 1] = row
    end
  end
  return { columns = columns, rows = rows }
end

---A table with a row per bound. For each setting (data set and model) it has the mean change of the test metric over
---losses, and how many losses the bound makes significantly better or worse.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell> }[]  one entry per setting; cells by "loss bound"
---@param losses string[]
---@param bounds string[]
function M.by_bound(grids, losses, bounds)
  local columns, rows = { "bound" }, {}
  for _, each in ipairs(grids) do
    table.move({ each.set.title .. ", mean", head(grids, each, "losses") }, 1, 2, #columns + 1, columns)
  end
  for r, bound in ipairs(bounds) do
    rows[r] = { bound }
    for _, each in ipairs(grids) do
      local found = tally(of_bound(each.cells, bound, losses))
      table.insert(rows[r], found.count > 0 and ("%+.4f"):format(found.sum / found.count) or "")
      table.insert(rows[r], found.count > 0 and counts(found) or "")
    end
  end
  return { columns = columns, rows = rows }
end

-- Text of a cell (a loss under a bound): its mean test metric, its change against no bound (* if significant), and
-- letters for flaws. c: the cap on processor time ended a run; n: a run did not converge; r: not better than random.
local function cell_text(cell)
  local parts = { ("%.4f"):format(cell.mean) }
  if cell.change then parts[2] = ("%+.4f%s"):format(cell.change, protocol.side(cell) ~= 0 and "*" or "") end
  if cell.capped > 0 then parts[#parts + 1] = "c" elseif not cell.converged then parts[#parts + 1] = "n" end
  if not protocol.above_chance(cell) then parts[#parts + 1] = "r" end
  return table.concat(parts, " ")
end

---A table with a row per loss and bound and a column per setting (data set and model). It has the mean test metric and
---its change against no bound.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell>, missing: table<string, string> }[]  by setting
---@param groups string[][]  losses by family: the family's name, then its losses
---@param bounds string[]
function M.all(grids, groups, bounds)
  local columns, rows, names = { "loss", "bound" }, {}, { "none", table.unpack(bounds) }
  for _, each in ipairs(grids) do columns[#columns + 1] = each.set.title end
  for _, group in ipairs(groups) do
    for i = 2, #group do
      for _, bound in ipairs(names) do
        local row, any = { group[i], bound }, false
        for _, each in ipairs(grids) do
          local key = group[i] .. " " .. bound
          row[#row + 1] = each.cells[key] and cell_text(each.cells[key]) or each.missing[key] and "no result" or ""
          any = any or row[#row] ~= ""
        end
        if any then rows[#rows + 1] = row end
      end
    end
  end
  return { columns = columns, rows = rows }
end

---Returns a function of a row and a column of one of these tables, which returns the number of training runs behind a
---cell. A change is made from the runs of two cells of the grid. The function returns nil for an unknown column.
---@param one { columns: string[] }  a table from this module
---@param runs integer               training runs of a cell of the grid: folds or seeds
---@return fun(row: any[], column: string): integer?
function M.runs(one, runs)
  local at = {}
  for c, name in ipairs(one.columns) do at[name] = c end
  return function(row, column)
    local c = at[column]
    if not c then return nil end
    local counted = row[column:find ", mean$" and c + 1 or c]
    local compared = tonumber(tostring(counted):match " of (%d+)$")
    if column == "kind" then return 0 end
    if column == "what is wrong" or column:find ", none$" or row[2] == "none" then return runs end
    if column == "bounds" or column:find ", bounds$" then return runs * (1 + compared) end
    return runs * 2 * (compared or 1)
  end
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Says what is wrong with a cell (results of a loss under a bound): the cap on processor time ended a training run, a
-- run did not converge, or the cell is not shown to rank better than random. Returns "" if nothing is wrong. `folds` is
-- the number of runs of a cell.
local function flaw_of(cell, folds)
  local flaws = {}
  if cell.capped > 0 then
    flaws[1] = ("the cap ended %d of %d runs"):format(cell.capped, folds)
  elseif not cell.converged then
    flaws[1] = "not converged"
  end
  if not protocol.above_chance(cell) then
    flaws[#flaws + 1] = ("%+.4f beyond random rankings (%+.4f to %+.4f)"):format(cell.above, cell.low, cell.high)
  end
  return table.concat(flaws, "; ")
end

---A table of flawed cells (a loss under a bound in a setting) and what is wrong: the cap on processor time ended a
---training run, a run did not converge, the cell is not shown to rank better than random, or it has no result.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell>, missing: table<string, string> }[]  by setting
function M.flaws(grids)
  local rows = {}
  for _, each in ipairs(grids) do
    for _, key in ipairs(sorted_keys(each.cells)) do
      local flaw = flaw_of(each.cells[key], each.set.folds)
      if flaw ~= "" then rows[#rows + 1] = { each.set.title, each.cells[key].loss, each.cells[key].bound, flaw } end
    end
    for _, key in ipairs(sorted_keys(each.missing)) do
      rows[#rows + 1] = { each.set.title, key:match "%S+", key:match " (.+)", each.missing[key] }
    end
  end
  return { columns = { "setting", "loss", "bound", "what is wrong" }, rows = rows }
end

---Counts cells (losses under bounds) of all settings: all with results (`count`), cells with a training run that the
---cap on processor time ended (`capped`), other cells that did not converge (`open`), cells not shown to rank better
---than random (`chance`), and cells without a result (`missing`).
---@param grids { set: grid.Setting, cells: table<string, grid.Cell>, missing: table<string, string> }[]  by setting
---@return { count: integer, capped: integer, open: integer, chance: integer, missing: integer }
function M.health(grids)
  local found = { count = 0, capped = 0, open = 0, chance = 0, missing = 0 }
  for _, each in ipairs(grids) do
    for _, cell in pairs(each.cells) do
      found.count = found.count + 1
      found.capped, found.open = found.capped + (cell.capped > 0 and 1 or 0),
        found.open + (cell.capped == 0 and not cell.converged and 1 or 0)
      found.chance = found.chance + (protocol.above_chance(cell) and 0 or 1)
    end
    found.missing = found.missing + #sorted_keys(each.missing)
  end
  return found
end

---Groups losses by the effect of bounds over all settings (data set and model): `better` have settings with a
---significantly better bound and none with a worse one, `worse` the reverse, `mixed` both, `same` neither. In an entry,
---`better` and `worse` count such settings of the loss. Losses without a change that counts in summaries are left out.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell> }[]  one entry per setting; cells by "loss bound"
---@param losses string[]
---@param bounds string[]
---@return table<"better"|"mixed"|"worse"|"same", { loss: string, better: integer, worse: integer }[]>
function M.effects(grids, losses, bounds)
  local found = { better = {}, mixed = {}, worse = {}, same = {} }
  for _, loss in ipairs(losses) do
    local up, down, count = 0, 0, 0
    for _, each in ipairs(grids) do
      local one = tally(of_loss(each.cells, loss, bounds))
      up, down, count = up + (one.gains > 0 and 1 or 0), down + (one.loses > 0 and 1 or 0), count + one.count
    end
    local kind = up > 0 and (down > 0 and "mixed" or "better") or down > 0 and "worse" or "same"
    if count > 0 then table.insert(found[kind], { loss = loss, better = up, worse = down }) end
  end
  return found
end

---For each setting (data set and model): the numbers of significant gains and losses by bounds, the number of changes
---that count in summaries, and their sum.
---@param grids { set: grid.Setting, cells: table<string, grid.Cell> }[]  one entry per setting; cells by "loss bound"
---@param losses string[]
---@param bounds string[]
---@return { gains: integer, loses: integer, count: integer, sum: number }[]
function M.by_setting(grids, losses, bounds)
  local found = {}
  for i, each in ipairs(grids) do
    found[i] = { gains = 0, loses = 0, count = 0, sum = 0.0 }
    for _, loss in ipairs(losses) do
      local one = tally(of_loss(each.cells, loss, bounds))
      for name in pairs(found[i]) do found[i][name] = found[i][name] + one[name] end
    end
  end
  return found
end

---Numbers of significant gains and significant losses by bounds, and of all changes that count in summaries.
---@param compared grid.Cell[]  cells (losses under bounds) that have a change against no bound
---@return { gains: integer, loses: integer, count: integer }
function M.overall(compared)
  local found = {}
  for _, cell in ipairs(compared) do found[#found + 1] = cell.summarised and cell or nil end
  return tally(found)
end

-- Joins losses to one text, with the numbers of settings where bounds make them better and worse. `words` is the
-- pattern for one loss, e.g. "loss (better, worse)": these three words are replaced by the loss's name and the two
-- numbers.
local function losses_text(effects, words)
  local parts = {}
  for i, each in ipairs(effects) do
    parts[i] = words:gsub("%a+", { loss = each.loss, better = each.better, worse = each.worse })
  end
  return table.concat(parts, ", ")
end

-- How bounds affect losses: each row has the kind of effect, the pattern with which `losses_text` writes each loss of
-- this kind, and the sentence that lists these losses.
local of_effects = {
  { "better", "loss (better)",
    "Some bound improves these losses and none worsens them (with the number of settings): %s." },
  { "mixed", "loss (better, worse)",
    "For these it depends on the bound or the setting (settings with a better bound, settings with a worse one): %s." },
  { "worse", "loss (worse)",
    "Some bound worsens these losses and none improves them (with the number of settings): %s." },
  { "same", "loss", "These losses have no significant change: %s." },
}

local function effects_text(effects)
  local parts = {}
  for _, each in ipairs(of_effects) do
    local kind, words, sentence = table.unpack(each)
    if #effects[kind] > 0 then parts[#parts + 1] = sentence:format(losses_text(effects[kind], words)) end
  end
  return table.concat(parts, " ")
end

-- One sentence for each setting (data set and model), on how many changes by bounds are significant, and their mean.
-- `tallies` is the result of `M.by_setting`.
local function settings_text(grids, tallies)
  local parts, empty = {}, {}
  for i, each in ipairs(grids) do
    local found = tallies[i]
    if found.count == 0 then
      empty[#empty + 1] = each.set.title
    else
      parts[#parts + 1] = ([[
In the setting %s, %d of %d changes are significantly for the better and %d for the worse, and their mean is %+.4f.]]
      ):format(each.set.title, found.gains, found.count, found.loses, found.sum / found.count)
    end
  end
  if #empty > 0 then
    parts[#parts + 1] = ("There is no change to summarise in: %s."):format(table.concat(empty, "; "))
  end
  return table.concat(parts, " ")
end

local text = [[
The grid compares every loss under every bound that applies to it with the same loss without a bound, by the loss's own
metric on test (nDCG where random rankings of its own have no closed form). Of %d changes %d are left out of what is
summarised here: the cell, or that without a bound, has a run that did not converge or that the cap ended, or is not
shown to rank better than at random. Of the other %d changes %d are for the better and %d for the worse, significantly
at 5 %% after Holm's correction over all changes (permutation tests, paired by user or query over the means of folds or
seeds, with the trained models as given).

%s

%s

In the figure red is for the better and blue for the worse, in standard errors of the mean change over users or
queries, + and - mark significant ones, and empty cells have no bound that applies or no result.

Of %d cells %d converged: training ended because no epoch of the last %s was better on validation, or all %s epochs (of
trees: rounds) ran and the best one is not among the last tenth. %s; %d others did not converge, and %d have no result.
%d of the cells rank better than at random, by the interval of 95 %% of what users or queries have beyond the
expectation of random rankings.]]

-- Returns the distinct values of the field `name` (such as "patience") over all settings (data set and model), joined
-- by " or ".
local function each_of(grids, name)
  local found, known = {}, {}
  for _, each in ipairs(grids) do
    local value = each.set[name]
    if not known[value] then found[#found + 1], known[value] = tostring(value), true end
  end
  return table.concat(found, " or ")
end

---The main finding in one sentence: how many changes by bounds are significantly better and worse. `compared` has the
---cells (losses under bounds) that have a change against no bound.
function M.sentence(compared)
  local all = M.overall(compared)
  return ("Of %d changes that bounding makes in the grid %d are significantly for the better and %d for the worse.")
    :format(all.count, all.gains, all.loses)
end

---The text of the findings, for the report.
---@param args table  parsed command line of grid.lua
---@param grids { set: grid.Setting, cells: table<string, grid.Cell>, missing: table<string, string> }[]  by setting
---@param compared grid.Cell[]  cells (losses under bounds) that have a change against no bound
---@param losses string[]
---@param bounds string[]
---@param left string[]  sentences on settings whose training runs are incomplete
function M.text(args, grids, compared, losses, bounds, left)
  local all, found, effects = M.overall(compared), M.health(grids), M.effects(grids, losses, bounds)
  local cap = args.full and "There was no cap (--full)"
    or ("The cap (%g seconds of a processor after the first epoch) ended runs of %d cells"):format(
      args.cap, found.capped)
  local more = #left > 0 and "\n\n" .. table.concat(left, " ") or ""
  return text:format(#compared, #compared - all.count, all.count, all.gains, all.loses,
    settings_text(grids, M.by_setting(grids, losses, bounds)), effects_text(effects), found.count,
    found.count - found.capped - found.open, each_of(grids, "patience"), each_of(grids, "epochs"), cap, found.open,
    found.missing, found.count - found.chance) .. more
end

return M
