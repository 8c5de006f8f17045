-- Writes Lua code with the former names of options, so that a script that was adapted to a renamed option still matches
-- the code that a store has of it. Only names in calls and tables count, `top_n_rank{k = 5}` or `best("loss", {value =
-- "ap"})`. Options that a script keeps in a variable stay as they are.
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"
local options = require "moonrank.options"

local M = {}

---@class mr.sweep.FormerCall
---@field module? string    part of the library, such as "metrics"
---@field is_method boolean
---@field rows table<string, mr.options.Row>  renamed options by present name

-- Returns the renamed options of an option table by present name; nil if it has none that were renamed in `round` or
-- later.
local function renamed_in(kind, round)
  local found = nil
  if not docs.fields(kind) then return nil end
  for _, row in ipairs(options.declared[kind] and options.declared[kind].rows or {}) do
    if options.name_before(round, row) then
      found = found or {}
      found[row[1]] = row
    end
  end
  return found
end

-- Returns lists by name: functions and methods of the library with renamed options, and options whose value is a table
-- with renamed options. Also returns a set of the names of the library's modules.
local function calls_of(round)
  local calls, modules = {}, {}
  local function add(name, module, is_method, kind)
    local rows = kind:match "^mr%." and renamed_in(kind:gsub("[?%[%]]", ""), round)
    if not rows then return end
    calls[name] = calls[name] or {}
    table.insert(calls[name], { module = module, is_method = is_method, rows = rows })
  end
  for _, entry in ipairs(entries.all()) do
    local module, separator, name = entry.path:match "([%w_]+)([.:])([%w_]+)$"
    local item = entry.item or type(entry.value) == "function" and docs.item(entry.value)
    if separator == "." then modules[module] = true end
    for _, param in ipairs(item and item.params or {}) do add(name, module, separator == ":", param.type) end
  end
  for _, class in ipairs(docs.option_names()) do
    for _, entry in ipairs(docs.fields(class)) do
      for _, kind in ipairs(options.alternatives(entry.type)) do add(entry.name .. " =", nil, false, kind) end
    end
  end
  return calls, modules
end

local by_round = {}

local function calls_before(round)
  by_round[round] = by_round[round] or table.pack(calls_of(round))
  return by_round[round][1], by_round[round][2]
end

-- Returns the renamed options in a call of the function that token i names; nil if it has none.
local function rows_at(tokens, i, round)
  local calls, modules = calls_before(round)
  local function text(at) return tokens[at] and tokens[at].text end
  local is_option = text(i + 1) == "="
  local separator, module = text(i - 1), modules[text(i - 2)] and text(i - 2)
  for _, call in ipairs(calls[tokens[i].text .. (is_option and " =" or "")] or {}) do
    local is_reached = is_option or call.is_method == (separator == ":")
      and (separator ~= "." or not module or module == call.module)
    if is_reached then return call.rows end
  end
end

-- Returns the source text that a value had under an option's former name: that of the former text or boolean for which
-- the option's `meant` has this value, or else `text` unchanged.
local function former_value(row, text)
  local quote, inner = text:match "^([\"'])(.*)%1$"
  for former, present in pairs(type(row.meant) == "table" and row.meant or {}) do
    if inner == present then return type(former) == "string" and quote .. former .. quote or tostring(former) end
  end
  return text
end

-- Renames options in the table that begins at token `open`, or in tables among the arguments in parentheses there.
local function rename(tokens, open, rows, round, copy)
  local depth, most = 0, tokens[open].text == "(" and 2 or 1
  local i = open
  repeat
    local text, before = tokens[i].text, i > 1 and tokens[i - 1].text
    if text == "{" or text == "(" or text == "[" then depth = depth + 1 end
    if text == "}" or text == ")" or text == "]" then depth = depth - 1 end
    local row = depth == most and (before == "{" or before == ",") and tokens[i + 1] and tokens[i + 1].text == "="
      and rows[text]
    if row then
      copy(i, options.name_before(round, row))
      if tokens[i + 2] then copy(i + 2, former_value(row, tokens[i + 2].text)) end
    end
    i = i + 1
  until depth == 0 or not tokens[i]
end

---Returns the tokens of a Lua text with the names that options had before a round of renamings.
---@param round integer  from 1 to options.rounds
---@param tokens mr.lexer.Token[]
---@return mr.lexer.Token[]
function M.before(round, tokens)
  local calls, written = calls_before(round), table.move(tokens, 1, #tokens, 1, {})
  local function copy(i, text)
    written[i] = setmetatable({ text = text }, { __index = tokens[i] })
  end
  for i, token in ipairs(tokens) do
    local next_one = tokens[i + 1] and tokens[i + 1].text
    local is_call = token.kind == "name" and (next_one == "{" or next_one == "(")
    local is_option = token.kind == "name" and next_one == "=" and tokens[i + 2] and tokens[i + 2].text == "{"
    local known = is_call and calls[token.text] or is_option and calls[token.text .. " ="]
    local rows = known and rows_at(tokens, i, round)
    if rows then rename(tokens, is_option and i + 2 or i + 1, rows, round, copy) end
  end
  return written
end

return M
