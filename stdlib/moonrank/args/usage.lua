-- Writes the text of --help, from a script's first comment and the declarations of its options (mr.args).
local check = require "moonrank.check"
local core = require "moonrank.core"

local M = {}

---Returns an option as it is typed: "--batch-size" for batch_size.
---Example: `require("moonrank.args.usage").typed "batch_size"   --> --batch-size`
function M.typed(name) return "--" .. name:gsub("_", "-") end

---Returns an option's value as it is typed: the values of a list with commas between them, '' for an empty text.
---Example: `require("moonrank.args.usage").written{1, 2}   --> 1,2`
function M.written(value)
  if type(value) ~= "table" then return value == "" and "''" or tostring(value) end
  local parts = {}
  for i, each in ipairs(value) do parts[i] = tostring(each) end
  return table.concat(parts, ",")
end

---Returns the allowed range of a numeric option for --help and errors: " from 1 to 5", " from 1", " to 5",
---" above 0", " above 0 and below 1", or "" without limits.
---@param declared mr.args.Declaration
---Example: `require("moonrank.args.usage").range_text{least = 1}:sub(2)   --> from 1`
function M.range_text(declared)
  local text = ""
  for _, limit in ipairs{ { "above", "above" }, { "least", "from" }, { "most", "to" }, { "below", "below" } } do
    local number, word = declared[limit[1]], limit[2]
    if number then
      local joined = word == "below" and text ~= "" or word == "to" and declared.above
      text = ("%s%s %s %s"):format(text, joined and " and" or "", word == "to" and joined and "up to" or word, number)
    end
  end
  return text
end

---Returns the allowed number of values of a list for --help and errors, or "" without limits.
---@param declared mr.args.Declaration
---Example: `require("moonrank.args.usage").count_text{count = {2, 10}}   --> 2 to 10 values`
function M.count_text(declared)
  return declared.count and ("%d to %d values"):format(table.unpack(declared.count)) or ""
end

-- Returns the comment at the beginning of a script.
local function description(script)
  local file = script and core.is_file(script) and io.open(script, "r")
  if not file then return "" end
  local lines = {}
  for line in file:lines() do
    local text = line:match "^%-%-+%s?(.*)$"
    if text then lines[#lines + 1] = text
    elseif not line:match "^#!" then break end
  end
  file:close()
  return table.concat(lines, "\n")
end

-- Returns the default of an option as text, in the words of its declaration if it has any. Returns "" for no default,
-- and for true and false.
local function default_text(d)
  if d.shown then return d.shown end
  return d.default ~= nil and d.default ~= "" and d.type ~= "boolean" and M.written(d.default) or ""
end

-- Returns what --help says in parentheses about an option: its range, its effect on other options, its default.
local function notes_of(d)
  local notes = {}
  local function add(form, ...) notes[#notes + 1] = form:format(...) end
  if d.choices then
    add("%s %s", d.type == "list" and "of" or "one of", (M.written(d.choices):gsub(",", ", ")))
  end
  local range = M.range_text(d):sub(2)
  if range ~= "" then notes[#notes + 1] = range end
  if d.count then notes[#notes + 1] = M.count_text(d) end
  if d.required then notes[#notes + 1] = "required" end
  for _, other in ipairs(check.names(d.sets or {})) do
    add("%s is %s", M.typed(other):sub(3), M.written(d.sets[other]))
  end
  local others = {}
  for i, other in ipairs(d.ignores or {}) do others[i] = M.typed(other) end
  if #others > 0 then add("not beside %s", table.concat(others, ", ")) end
  local default = default_text(d)
  if default ~= "" then add("default %s", default) end
  return notes
end

-- Returns an option as --help shows it: "--no-cache", "--epochs INTEGER", "--bounds STRING,...".
local function head_of(name, d)
  if d.type == "boolean" then return M.typed((d.default and "no_" or "") .. name) end
  return ("%s %s"):format(M.typed(name), d.type == "list" and d.element:upper() .. ",..." or d.type:upper())
end

---Returns the text of --help for a script, in lines that fit the terminal.
---@param script? string  path of the script, whose first comment is part of the text
---@param declarations table<string, mr.args.Declaration>
function M.text(script, declarations)
  local lines = { ("usage: moonrank %s [options]"):format(script or "SCRIPT") }
  local about = description(script)
  if about ~= "" then lines[#lines + 1] = "\n" .. about end
  lines[#lines + 1] = "\noptions:"
  local rows, width = { { "--help", "show this help" } }, #"--help"
  for _, name in ipairs(check.names(declarations)) do
    local d = declarations[name]
    local notes, right = notes_of(d), d.help or ""
    if #notes > 0 then right = right .. (right ~= "" and " " or "") .. "(" .. table.concat(notes, "; ") .. ")" end
    rows[#rows + 1] = { head_of(name, d), right }
    width = math.max(width, #rows[#rows][1])
  end
  for _, row in ipairs(rows) do
    lines[#lines + 1] = check.without_end_blanks(("  %-" .. width .. "s  %s"):format(row[1], row[2]))
  end
  return require("moonrank.help.wrap").text(table.concat(lines, "\n"), require("moonrank.system.terminal").width())
end

return M
