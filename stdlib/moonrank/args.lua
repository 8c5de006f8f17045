-- Command line options of a script (mr.args). A script declares each option with its default value, whose type is the
-- type of the option. The text of --help is made from the declarations.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local paths = require "moonrank.system.paths"
local usage = require "moonrank.args.usage"
local M = {}

local typed, written, range_text = usage.typed, usage.written, usage.range_text

local declaration_options = require("moonrank.options").declare("mr.args.Declaration", {
  "Values",
  { "default", "any", help = "value when the option is not given; its type is the option's type" },
  { "type", "string", choices = { "integer", "number", "string", "boolean", "list" }, shown = "that of default",
    help = "type of the value; required if there is no default" },
  { "help", "string", help = "one line for --help, without the default" },
  { "shown", "string", help = "the default in words, for --help: one per core" },
  { "choices", "any[]", shown = "any", help = "allowed values; a list may contain each of them once" },
  { "required", "boolean", shown = "false", help = "whether a missing option is an error" },
  { "placement", "boolean", shown = "false",
    help = "whether the option only says where or how results are kept; mr.sweep ignores it in comparisons" },
  "Numbers, lists and texts",
  { "least", "number", infinite = true, help = "smallest number" },
  { "most", "number", infinite = true, help = "largest number" },
  { "above", "number", infinite = true, help = "number that all values must exceed, such as 0 for a learning rate" },
  { "below", "number", infinite = true, help = "number that no value may reach" },
  { "count", "integer[]", expected = "two integers {fewest, most}, such as {2, 10}",
    accept = function(count)
      return #count == 2 and math.type(count[1]) == "integer" and math.type(count[2]) == "integer"
        and count[1] <= count[2]
    end,
    help = "least and largest number of values of a list" },
  { "distinct", "boolean", shown = "false", help = "whether a list with a value twice is an error" },
  { "endings", "string[]", shown = "any", help = 'allowed endings of a text, as {".svg", ".png"}' },
  { "path", "string", choices = paths.kinds,
    help = "kind of path that a text must be; an empty default means no path" },
  "Flags",
  { "sets", "table<string, any>",
    help = "values of other options if the flag is given; to give them too is an error" },
  { "ignores", "string[]", help = "options without effect if the flag is given; to give them too is an error" },
})

-- Returns the end of an error about a misspelt option: ", did you mean 'epochs'?", or "" if no name is similar. `form`
-- formats the proposed name.
local function hint(name, names, form)
  local near = check.nearest(name, names)
  return near and (", did you mean '%s'?"):format(form and form(near) or near) or ""
end

local function leave(status, message) error(core.exit(status, message), 0) end

local function kind_of(value)
  if math.type(value) == "integer" then return "integer" end
  if type(value) == "table" then return "list" end
  return type(value)
end

local function among(value, values)
  for _, each in ipairs(values) do
    if each == value then return true end
  end
  return false
end

-- True if the value has the type `kind` of an option. An integer is accepted where a number is expected.
local function fits(value, kind) return kind_of(value) == kind or kind == "number" and math.type(value) == "integer" end

local articles = { integer = "an integer", number = "a number", string = "a text", boolean = "true or false",
  list = "one or more values with commas between them" }

local function refuse_option(name, text, ...) check.fail("mr.args: option '%s' " .. text, name, ...) end

-- Raises an error if the declaration of an option contradicts itself, e.g. if its default is not of its declared type.
local function check_fields(name, d)
  local function refuse(text, ...) refuse_option(name, text, ...) end
  if not d.type then refuse "has neither a default nor a type. Declare one of them" end
  if not articles[d.type] then refuse("has a default of type %s, which a command line cannot have", d.type) end
  if d.default ~= nil and not fits(d.default, d.type) then
    refuse("has a default of type %s, expected %s", kind_of(d.default), d.type)
  end
  local kind = d.element or d.type
  if d.element and (kind == "list" or not articles[kind]) then
    refuse("is a list with elements of type %s, expected integer, number, string or boolean", kind)
  end
  for _, limit in ipairs(kind ~= "integer" and kind ~= "number" and { "least", "most", "above", "below" } or {}) do
    if d[limit] then refuse("has %s, which needs numbers, but its type is %s", limit, kind) end
  end
  if d.count and d.type ~= "list" then refuse("has count, which needs a list, but its type is %s", d.type) end
  if d.endings and kind ~= "string" then refuse("has endings, which need texts, but its type is %s", kind) end
end

-- Returns the declaration of an option. The script gives a table with named fields (default, help, ...), or only the
-- default value. An array is the default of an option that takes several values.
local function declared_of(name, value)
  local declared = { default = value }
  if type(value) == "table" and next(value) ~= nil and #value == 0 then
    declared = declaration_options:read(("mr.args{%s = ...}"):format(name), value)
  end
  declared.type = declared.type or declared.default ~= nil and kind_of(declared.default) or nil
  if declared.type == "list" then
    local first = type(declared.default) == "table" and declared.default[1]
    declared.element = first and kind_of(first) or "string"
  end
  check_fields(name, declared)
  return declared
end

-- Converts a text to a number like Lua's `tonumber`, but returns nil in two cases. A hexadecimal integer may not fit in
-- 64 bits as a signed integer: `tonumber` wraps it around and reads 0xffffffffffffffff as -1. A number such as 1e400 is
-- too large for 64-bit floating point: `tonumber` reads it as infinity.
local function number_of(text)
  local digits = text:match "^%s*[+-]?0[xX]0*(%x*)%s*$"
  if digits and (#digits > 16 or math.tointeger(tonumber("0x0" .. digits)) < 0) then return nil end
  local value = tonumber(text)
  return value and math.abs(value) ~= math.huge and value or nil
end

-- Floats of at least this size may differ, by rounding, from the integer that was typed on the command line.
local inexact_from <const> = 2 ^ 53

-- Converts a text to an integer. Returns nil if the text is not an integer, if 64 bits cannot hold the integer, or if
-- it is written as a float that may be rounded, such as 1e17.
local function integer_of(text)
  local value = number_of(text)
  if math.type(value) == "float" and math.abs(value) >= inexact_from then return nil end
  return math.tointeger(value)
end

-- Converts the text of a command line argument to a value of type `kind`; nil if the text is not such a value.
local function read(kind, text)
  if kind == "string" then return text end
  if kind == "boolean" then return ({ ["true"] = true, ["false"] = false })[text] end
  if kind == "integer" then return integer_of(text) end
  return number_of(text)
end

local function ends_so(value, endings)
  for _, ending in ipairs(endings) do
    if #value > #ending and value:sub(-#ending):lower() == ending then return true end
  end
  return false
end

-- Converts a text to a value of type `kind`; nil if the option's type, range, choices or endings exclude it.
local function element_of(declared, kind, text)
  local value = read(kind, text)
  if value == nil or value ~= value then return nil end
  if declared.least and value < declared.least or declared.most and value > declared.most then return nil end
  if declared.above and value <= declared.above or declared.below and value >= declared.below then return nil end
  if declared.choices and not among(value, declared.choices) then return nil end
  if declared.endings and not ends_so(value, declared.endings) then return nil end
  return value
end

-- Returns in words what an option's declaration allows; `text` is the refused text from the command line.
local function expected_text(declared, kind, text)
  local is_number = kind == "integer" or kind == "number"
  if is_number and read(kind, text) == nil and (text:find "^%s*[+-]?%d+%s*$" or text:find "^%s*[+-]?0[xX]%x+%s*$") then
    return kind == "integer" and "an integer from -2^63 to 2^63 - 1" or "a finite number (in hexadecimal, below 2^63)"
  end
  if declared.choices then return "one of " .. written(declared.choices):gsub(",", ", ") end
  if declared.endings then return "a name that ends in one of " .. table.concat(declared.endings, ", ") end
  return articles[kind] .. range_text(declared)
end

local function convert(name, declared, text)
  local function bad(expected, got) leave(2, ("%s: expected %s, got '%s'"):format(typed(name), expected, got)) end
  if declared.type ~= "list" then
    local value = element_of(declared, declared.type, text)
    if value == nil then bad(expected_text(declared, declared.type, text), text) end
    return value
  end
  local values = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    if part == "" and text ~= "" and declared.element == "string" then
      bad("a text before and after every comma", text)
    end
    local element
    if part ~= "" then element = element_of(declared, declared.element, part) end
    if element == nil then
      bad("one or more values with commas between them, each " .. expected_text(declared, declared.element, part), text)
    end
    if (declared.choices or declared.distinct) and among(element, values) then bad("each value once", text) end
    values[#values + 1] = element
  end
  local count = declared.count
  if count and (#values < count[1] or #values > count[2]) then bad(usage.count_text(declared), text) end
  return values
end

-- Returns the names of options that can change results, i.e. without options marked as `placement`, which only say
-- where or how results are kept.
local function compared_names(declarations)
  local names = {}
  for _, name in ipairs(check.names(declarations)) do
    if not declarations[name].placement then names[#names + 1] = name end
  end
  return names
end

-- Maps options of the program to true if a value follows them.
local of_program = { ["--threads"] = true, ["-e"] = true, ["-i"] = false, ["--version"] = false,
  ["--dump-api"] = false }

-- Ends the script with an error if a word is an option of the program, which must stand before the script.
local function refuse_of_program(word, next_word, script)
  local name, value = word:match "^([^=]+)=(.*)$"
  name = name or word
  if of_program[name] == nil then return end
  value = of_program[name] and (value or next_word or (name == "-e" and "CODE" or "N"))
  leave(2, ("%s is an option of moonrank, not of the script. Write it before the script: `moonrank %s %s`"):format(
    name, value and name .. " " .. value or name, script or "SCRIPT"))
end

local function parse(declarations, words, script)
  local values, names = {}, check.names(declarations)
  local i = 1
  while i <= #words do
    local word = words[i]
    local given, text = word:match "^%-%-([^=]+)=(.*)$"
    given = given or word:match "^%-%-(.+)$"
    if word == "--help" or word == "-h" then leave(0, usage.text(script, declarations)) end
    if not given then
      refuse_of_program(word, words[i + 1], script)
      leave(2, ("unexpected argument '%s' (options begin with --; --help lists them)"):format(word))
    end
    local name = given:gsub("%-", "_")
    local declared, denied = declarations[name], false
    local denial = name:match "^no_(.+)$"
    if not declared and denial and declarations[denial] and declarations[denial].type == "boolean" then
      name, declared, denied = denial, declarations[denial], true
    end
    if not declared then
      refuse_of_program(word, words[i + 1], script)
      leave(2, ("unknown option '--%s'%s (--help lists them)"):format(given, hint(name, names, typed)))
    end
    if denied then
      if text then leave(2, ("%s takes no value"):format(typed(given))) end
      values[name] = false
    elseif declared.type == "boolean" then
      values[name] = not text or convert(name, declared, text)
    else
      if not text then
        i = i + 1
        text = words[i]
        if not text then
          leave(2, ("%s: a value is missing, expected %s"):format(typed(name), articles[declared.type]))
        end
      end
      values[name] = convert(name, declared, text)
    end
    i = i + 1
  end
  return values
end

-- Applies the flags on the command line: a flag gives other options the values in its declaration's `sets`. Ends the
-- script with an error if an option in `sets` or `ignores` was given beside the flag.
local function apply_flags(declared, values)
  local function leave_out(other, flag)
    leave(2, ("%s: has no effect together with %s. Leave out one of them"):format(typed(other), typed(flag)))
  end
  local made = {}
  for _, flag in ipairs(check.names(declared)) do
    local d = declared[flag]
    for _, other in ipairs(values[flag] == true and d.ignores or {}) do
      if values[other] ~= nil then leave_out(other, flag) end
    end
    for other, value in pairs(values[flag] == true and d.sets or {}) do
      if values[other] ~= nil then
        leave(2, ("%s: cannot be given, because %s sets it to %s"):format(typed(other), typed(flag), written(value)))
      end
      made[other] = value
    end
  end
  for other, value in pairs(made) do values[other] = value end
end

-- Ends the script with an error if a path is not of the kind that its option declares, e.g. an existing file. A default
-- path is only checked if the script writes there.
local function check_paths(declared, values)
  for _, name in ipairs(check.names(declared)) do
    local kind, value = declared[name].path, values[name]
    if kind and value == "" and declared[name].default ~= "" then
      leave(2, ("%s: expected the path of a %s, got ''"):format(typed(name), kind:match "%S+$"))
    end
    if value == nil and paths.is_written(kind) then value = declared[name].default end
    local objection = kind and value and value ~= "" and paths.objection(kind, value)
    if objection then leave(2, ("%s: %s"):format(typed(name), objection)) end
  end
end

-- Raises an error if `sets` or `ignores` is declared for an option that is not a flag, or names an option that is not
-- declared. The values in `sets` must have the types of their options.
local function check_flags(declared)
  for name, d in pairs(declared) do
    local others = { table.unpack(d.ignores or {}) }
    for other in pairs(d.sets or {}) do others[#others + 1] = other end
    if #others > 0 and d.type ~= "boolean" then
      refuse_option(name, "declares sets or ignores, which only a flag (type boolean) can have")
    end
    for _, other in ipairs(others) do
      if not declared[other] then
        refuse_option(name, "has '%s' in sets or ignores, but no option of this name is declared", tostring(other))
      end
      local set = d.sets and d.sets[other]
      if set ~= nil and not fits(set, declared[other].type) then
        refuse_option(name, "sets '%s' to a value of type %s, expected %s", other, kind_of(set), declared[other].type)
      end
    end
  end
end

-- Declaration of the option --device, which every script has.
local device = { type = "string", choices = { "cpu", "cuda" }, help = "device of tensors", shown = "the program's" }

local function set_device(name)
  local ok, why = check.attempt(core.device, name)
  if not ok then leave(2, ("%s: %s"):format(typed "device", check.reason(why))) end
end

local check_declarations = arguments{ "options", "table", expected = "a table such as {nsr = 1}" }

---Returns the declarations of options with all their fields, and that of --device unless `declarations`
---has its own option `device`. A declaration that contradicts itself is an error.
---@param declarations table<string, any>  as for mr.args
---@return table<string, mr.args.Declaration>  by name
---Example: `require("moonrank.args").declared({nsr = 1}).nsr.type   --> integer`
function M.declared(declarations)
  local declared = {}
  check_declarations("mr.args", declarations)
  for name, value in pairs(declarations) do
    check.expect(type(name) == "string", "mr.args", "a key of the table options", name,
      "the name of an option: mr.args{nsr = 1}")
    check.identifier("mr.args", "the name of an option", name)
    declared[name] = declared_of(name, value)
  end
  declared.device = declared.device or device
  check_flags(declared)
  return declared
end

---Declares the options of a script and reads them from its command line. It accepts `--name value`,
---`--name=value`, `--flag`, `--no-flag`, and lists with commas. The option `batch_size` is typed as
---`--batch-size`; `--batch_size` is accepted, too. Every script has `--device`, which sets
---mr.device; a script that declares an option `device` itself replaces it, and mr.device is not set.
---A flag may set or ignore other options, as in `smoke = {default = false, sets =
---{epochs = 2}, ignores = {"data"}}`. Passing `--smoke` together with `--epochs` or `--data` is
---then an error. Numbers outside the range of `least`, `most`, `above` and `below`, integers that 64
---bits do not hold, lists with an empty value, lists with more or fewer values than `count` allows, and
---paths of another kind than `path` ("file", "folder", "new file", ...) are errors, too. An "output
---file" or "new folder" must be writable, also by default, so that a script does not fail at its end. A
---wrong command line ends the script with status 2, and `--help` ends it with status 0. Options with
---`placement = true`, such as the path of a store, only say where or how results are kept. mr.sweep
---does not warn when their values change. Returns the values of all options by name: those of the
---command line, and else the defaults. In the returned table, reading an option that was not declared
---is an error.
---@param declarations table<string, any|mr.args.Declaration>  default or declaration by the option's name
---@param words? string[]  words of a command line (default: the script's own `arg`)
---@return table<string, any>
---Example: `mr.args({nsr = 1, smoke = false}, {"--nsr", "2"}).nsr   --> 2`
function M.args(declarations, words)
  local own = rawget(_G, "arg") or {}
  local declared = M.declared(declarations)
  local values = parse(declared, words or own, own[0])
  apply_flags(declared, values)
  check_paths(declared, values)
  for name, d in pairs(declared) do
    if values[name] == nil then values[name] = d.default end
    if values[name] == nil and d.required then
      leave(2, ("the required option %s is missing, expected %s"):format(typed(name), articles[d.type]))
    end
  end
  if declared.device == device and values.device then set_device(values.device) end
  return setmetatable(values, {
    __name = "mr.Args",
    __names = check.names(declared),
    __compared = compared_names(declared),
    __index = function(_, key)
      if not declared[key] then
        check.fail("mr.args: the script reads option '%s', but does not declare it%s", key,
          hint(tostring(key), check.names(declared)))
      end
    end,
  })
end

return M
