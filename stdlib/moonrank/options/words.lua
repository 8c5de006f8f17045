-- Writes errors about declared options, and their documentation. `where` is the name of the called function.
local check = require "moonrank.check"
local core = require "moonrank.core"
local digits = require "moonrank.system.digits"
local options = require "moonrank.options"
local found = check.found

local M = {}

-- Returns a default or limit as text: 2^n for a large power of two, else the shortest decimal of the same number.
local function written(value)
  if type(value) ~= "number" then return tostring(value) end
  if value >= 2 ^ 20 and value < math.huge then
    local exponent, rest = 0, value
    while rest >= 2 do exponent, rest = exponent + 1, rest / 2 end
    if rest == 1 then return ("2^%d"):format(exponent) end
  end
  return math.type(value) == "float" and digits.shortest(value) or tostring(value)
end

-- Returns the limits of a numeric option as text, such as "at least 1" or "above 0 and below 1"; nil without limits.
local function limits_of(row)
  if row.least and row.most then return ("from %s to %s"):format(written(row.least), written(row.most)) end
  local low = row.least and "at least " .. written(row.least) or row.above and "above " .. written(row.above)
  local high = row.most and "at most " .. written(row.most) or row.below and "below " .. written(row.below)
  return low and high and low .. " and " .. high or low or high
end

local articles = { boolean = "true or false", string = "a text", table = "a table", ["function"] = "a function" }

local plurals = { string = "texts", integer = "integers", number = "numbers", table = "tables", any = "values",
  ["false"] = "false" }

-- Returns the elements of a type of arrays in words: "texts or numbers" for "(string|number)[]".
local function elements_in_words(kind)
  local words = {}
  for i, each in ipairs(options.alternatives(kind:match "^%((.*)%)%[%]$" or kind:sub(1, -3))) do
    words[i] = plurals[each] or each:find "%[%]$" and "tables of " .. elements_in_words(each)
      or (options.declared[each] or each:find "^{") and "tables" or each .. " objects"
  end
  return table.concat(words, " or ")
end

-- Returns limits as they follow a noun: "of at least 1".
local function after_noun(limits) return limits and " " .. limits:gsub("^at", "of at") or "" end

local function expected_type(row, kind)
  if kind == "integer" or kind == "number" then
    local is_finite = kind == "number" and not row.infinite and not row.most and not row.below
    if row.above == 0 and not row.most and not row.below then
      return is_finite and "a positive finite number" or "a positive number"
    end
    local noun = kind == "integer" and "an integer" or is_finite and "a finite number" or "a number"
    return noun .. after_noun(limits_of(row))
  end
  if kind:match "%[%]$" then return "a table of " .. elements_in_words(kind) .. after_noun(limits_of(row)) end
  if kind:match "^fun" then return "a function" end
  if options.declared[kind] then return articles.table end
  return articles[kind:match "^%a+"] or kind:find "^mr%." and ("an %s object"):format(kind) or kind
end

-- Returns, in words, the types of values that an option accepts beside its choices. Types of tables come last, because
-- "a table of numbers or an mr.Tensor object" could be read as a table that may contain such an object.
local function types_in_words(row)
  local words, tables = {}, {}
  for _, kind in ipairs(row.has_more and options.types_of(row)
    or not row.choices and options.alternatives(row[2]) or {}) do
    local into = kind:find "%[%]$" and tables or words
    into[#into + 1] = expected_type(row, kind)
  end
  return table.move(tables, 1, #tables, #words + 1, words)
end

local function expected_of(row)
  if row.expected then return row.expected end
  if row.class then return "an object of class " .. row.class end
  local words = {}
  for i, each in ipairs(row.choices or {}) do words[i] = found(each) end
  for _, each in ipairs(types_in_words(row)) do words[#words + 1] = each end
  return table.concat(words, " or ")
end

---Raises an error because the value of an option is not allowed. The error says what was expected.
function M.refused(where, row, value)
  if row.of_texts and (type(value) == "string" or not row.has_more) then
    check.choice(where, row[1], value, row.choices, row.has_more and table.concat(types_in_words(row), " or ") or nil)
  end
  local key = row.element and type(value) == "table" and options.wrong_key(row, value)
  if key and row[2]:find "^table<string" then
    check.expect(type(key) == "string", where, "a name in " .. row[1], key, "a text")
    check.fail("%s: %s.%s is %s, expected %s, as every value of %s", where, row[1], core.safe_text(key),
      found(value[key]), expected_of(row.element), row[1])
  elseif math.type(key) == "integer" then
    check.fail("%s: %s[%d] is %s, expected %s, as every element of %s", where, row[1], key, found(value[key]),
      expected_of(row.element), row[1])
  elseif key then
    check.sequence(where, row[1], value)
  end
  if row.some and type(value) == "table" then check.not_empty(where, row[1], value, row.some) end
  check.fail("%s: %s is %s, expected %s", where, row[1], found(value), expected_of(row))
end

---Raises an error because a required option was not given.
---@param instead? string  option that may be given instead
function M.missing(where, row, instead)
  check.fail("%s: the required option %s is missing, expected %s%s", where, row[1], expected_of(row),
    instead and (", or the option %s instead"):format(instead) or "")
end

---Raises an error with an example because the argument `options` is not a table.
function M.no_table(declaration, where, given)
  local first = declaration.rows[1]
  local example = first and (" such as {%s = ...}"):format(first[1]) or ""
  check.fail("%s: options is a %s, expected a table%s", where, check.kind(given), example)
end

---Raises an error because a script passed an unknown option. The error proposes a known one.
function M.unknown(declaration, where, name)
  local known = {}
  for i, row in ipairs(declaration.rows) do
    known[i] = row[1]
    local advice = type(name) == "string" and row.also and row.also[name]
    if advice then check.fail("unknown option of %s: '%s'. %s", where, name, advice) end
    for _, other in ipairs(row.also or {}) do
      if other == name then check.fail("unknown option of %s: '%s'. It is called '%s' here", where, name, row[1]) end
    end
  end
  check.unknown("option of " .. where, name, known)
end

---Raises an error because an option was given under two of its names.
---@param a string
---@param b string
function M.both_names(where, row, a, b)
  local name = row[1]
  local former = a == name and b or a
  check.fail("%s: %s and %s are both given, but %s is the former name of %s. Leave out %s", where, a, b, former, name,
    former)
end

---Raises an error because two options were given of which only one is allowed.
---@param other string
---@param why string|true  the reason, if it is a text
function M.excluded(where, name, other, why)
  check.fail("%s: %s and %s are both given, expected only one of them%s", where, name, other,
    why == true and "" or ", because " .. why)
end

---Raises an error because an option has no effect without another option, which is missing.
---@param needed string
function M.lacks(where, name, needed)
  check.fail("%s: %s is given, but %s is missing. Pass %s, or leave out %s", where, name, needed, needed, name)
end

-- Returns allowed values of the option `other` as a condition: "by = 'last' or 'one'".
local function condition(other, values)
  local parts = {}
  for i, each in ipairs(type(values) == "table" and values or { values }) do parts[i] = found(each) end
  return ("%s = %s"):format(other, table.concat(parts, " or "))
end

---Raises an error because an option has no effect with the value of another option.
---@param other string  the other option
---@param values any    its value, or array of values, with which this option has an effect
---@param now any       its value in this call
function M.no_effect(where, row, value, other, values, now)
  check.fail("%s: %s is %s, but %s = %s, and only %s takes %s. Leave out %s", where, row[1], found(value), other,
    found(now), condition(other, values), row[1], row[1])
end

---Raises an error because an option is larger than the option that limits it.
---@param o table  values of the options
function M.above(where, row, o)
  check.fail("%s: %s is %s, expected at most %s, which is %s", where, row[1], found(o[row[1]]), row.not_above,
    found(o[row.not_above]))
end

local warned = {}  -- pairs "present former" of option names for which this process has printed a warning

---Warns that an option was given under its former name, once per process for each pair of names.
function M.warn_of_former(where, row, former)
  local pair = row[1] .. " " .. former
  if warned[pair] then return end
  warned[pair] = true
  -- this error is raised only to get the position of the script's line, which begins its message
  local _, line = pcall(check.fail, "")
  local text = "%s%s: %s is called %s now. The former name is still accepted; this warning is shown once"
  check.warn(text:format(line, where, former, row[1]))
end

local function default_text(row)
  if row.shown then return row.shown end
  local value = row.default
  if value == nil then return nil end
  if type(value) == "string" then return '"' .. value .. '"' end
  if type(value) == "table" then
    local parts = {}
    for i, each in ipairs(value) do parts[i] = default_text{ default = each } end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return written(value)
end

local function shown_type(row)
  if not row.choices then return row[2] end
  local parts = {}
  for i, each in ipairs(row.choices) do
    parts[i] = type(each) == "string" and ('"%s"'):format(each) or tostring(each)
  end
  for _, kind in ipairs(row.has_more and options.types_of(row) or {}) do parts[#parts + 1] = kind end
  return table.concat(parts, "|")
end

---Returns declared options in the form in which fields of a class are documented: name, type and text of each.
function M.fields(rows)
  local entries = {}
  for i, row in ipairs(rows) do
    local text, default = row.help, default_text(row)
    local parts = { limits_of(row) }
    parts[#parts + 1] = default and "default " .. default
    parts[#parts + 1] = row.formerly and "formerly " .. table.concat(options.former_names(row), " or ")
    parts[#parts + 1] = row.excludes and "not with " .. table.concat(check.names(row.excludes), " or ")
    parts[#parts + 1] = row.required_without and "required without " .. row.required_without
    parts[#parts + 1] = row.requires and "with " .. row.requires
    for other, values in pairs(row.only_with or {}) do parts[#parts + 1] = "only with " .. condition(other, values) end
    parts[#parts + 1] = row.not_above and "at most " .. row.not_above
    if #parts > 0 then text = ("%s (%s)"):format(text, table.concat(parts, "; ")) end
    entries[i] = { name = row[1], type = shown_type(row), text = text, optional = not row.required, group = row.group,
      also = row.also }
  end
  return entries
end

return M
