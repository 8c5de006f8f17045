-- Explains how to read a table of a report, in one line that is computed from the table. Leaves out columns without
-- values.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file = dofile(here .. "results_file.lua")

local M = {}

-- Returns the table's rows with nil in place of empty texts, so that a column of numbers and blanks counts as numbers.
local function rows_of(one)
  local rows = {}
  for r, row in ipairs(one.rows) do
    rows[r] = {}
    for c in ipairs(one.columns) do
      if row[c] ~= "" then rows[r][c] = row[c] end
    end
  end
  return rows
end

local function has_value(rows, c)
  for _, row in ipairs(rows) do
    if row[c] ~= nil and row[c] == row[c] then return true end
  end
  return false
end

---Returns the table without the columns that have no value in any row, or only NaN. Empty texts become blanks.
---@param one mr.Table
---@return mr.Table
function M.without_empty(one)
  local o = { columns = {}, rows = {}, formats = {}, mark = {}, within = {}, notes = one.notes }
  local rows, stays = rows_of(one), {}
  for r in ipairs(rows) do o.rows[r] = {} end
  for c, name in ipairs(one.columns) do
    if has_value(rows, c) then
      local k = #o.columns + 1
      o.columns[k], o.formats[name], o.mark[name], stays[name] = name, one.formats[name], one.mark[name], true
      for r, row in ipairs(rows) do o.rows[r][k] = row[c] end
    end
  end
  for _, name in ipairs(one.within) do o.within[#o.within + 1] = stays[name] and name or nil end
  return mr.table(o)
end

-- Returns column names in quotation marks, joined by commas and "and".
local function joined(names)
  local quoted = {}
  for i, name in ipairs(names) do quoted[i] = '"' .. name .. '"' end
  if #quoted < 2 then return quoted[1] or "" end
  return table.concat(quoted, ", ", 1, #quoted - 1) .. " and " .. quoted[#quoted]
end

-- Returns the columns that a mark of bold numbers has, such as "p" and "p, Holm", in a few words.
local function briefly(names)
  if #names == 1 then return joined(names) end
  for _, name in ipairs(names) do
    if not name:find "^p%f[%W]" then return "numbers" end
  end
  return "p"
end

-- Returns what bold numbers of the table mean: 'the largest "nDCG" within each "loss"; "p" below 0.05'. Returns "" if
-- no number is bold. `named` gives the columns of a mark as text, and `within` says whether groups of rows are named.
local function bold(one, named, within)
  local by, levels, parts = { max = {}, min = {} }, {}, {}
  local groups = within and #one.within > 0 and " within each " .. joined(one.within) or ""
  for _, name in ipairs(one.columns) do
    local mark = one.mark[name]
    if mark then
      if not by[mark] then levels[#levels + 1], by[mark] = mark, {} end
      table.insert(by[mark], name)
    end
  end
  if #by.max > 0 then parts[#parts + 1] = "the largest " .. named(by.max) .. groups end
  if #by.min > 0 then parts[#parts + 1] = "the smallest " .. named(by.min) .. groups end
  for _, level in ipairs(levels) do parts[#parts + 1] = ("%s below %g"):format(named(by[level]), level) end
  return #parts > 0 and ("Bold: %s."):format(table.concat(parts, "; ")) or ""
end

-- Returns whether a text such as "95 % from, to: ends of the interval" is about columns that a table lost.
local function is_about(text, lost)
  local term = text:match "^(.-):"
  if not term or lost[term] then return term ~= nil end
  for name in term:gmatch "[^,]+" do
    if not lost[name:match "^%s*(.-)%s*$"] then return false end
  end
  return true
end

---Divides the meaning of a table's columns, such as "d: mean change; n: users", into one text per term. Terms of
---columns that the shown table lacks are left out.
---@param legend string
---@param all? string[]    columns of the table (default: those shown)
---@param shown? string[]  columns that are shown
---@return string[]
function M.meanings(legend, all, shown)
  local found, lost, kept = {}, {}, {}
  for _, name in ipairs(all or {}) do lost[name] = true end
  for _, name in ipairs(shown or {}) do lost[name] = nil end
  for part in (legend:gsub("%s+", " ") .. ";"):gmatch "%s*(.-);" do
    if #found == 0 or part:find ":" then
      found[#found + 1] = part
    elseif part ~= "" then
      found[#found] = found[#found] .. "; " .. part
    end
  end
  for _, text in ipairs(found) do kept[#kept + 1] = not is_about(text, lost) and text or nil end
  return kept
end

-- Returns an array of those texts that are not empty.
local function without_blanks(...)
  local found = {}
  for _, text in ipairs{ ... } do found[#found + 1] = text ~= "" and text or nil end
  return found
end

---Returns one line on how to read the table: what a row is, and which numbers are bold. Returns "" if
---there is nothing to say. If the line would have more than `room` characters, it says less, and a list of
---the whole sentences is returned as well.
---@param one mr.Table
---@param room? integer  default: any length
---@return string line, string[] sentences  sentences: those that the line has shortened or left out
function M.line(one, room)
  local _, keys = results_file.row_names(one)
  local rows, most = "", room or math.huge
  if #one.rows > 1 and #one.columns > 1 then
    rows = ("one row per %s."):format(joined(table.move(one.columns, 1, keys, 1, {})))
  end
  local strong = bold(one, joined, true)
  local forms = { { rows, strong }, { rows, bold(one, briefly, true) }, { bold(one, briefly, true) },
    { rows, bold(one, briefly, false) }, { bold(one, briefly, false) }, { rows } }
  for i, parts in ipairs(forms) do
    local line = table.concat(parts, " "):match "^%s*(.-)%s*$"
    if utf8.len(line) <= most and (i == 1 or line ~= "") then
      return line, i == 1 and {} or without_blanks(rows, strong)
    end
  end
  return "", without_blanks(rows, strong)
end

return M
