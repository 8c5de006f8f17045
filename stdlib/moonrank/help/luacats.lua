-- Parses LuaCATS comments (`---`, `---@param` and so on) above functions and classes in Lua source text.
local M = {}

---@class mr.luacats.Entry
---@field name string
---@field type string
---@field text string
---@field optional boolean
---@field group? string     heading of an option in its table
---@field also? string[]    names of an option in other libraries

---@class mr.luacats.Item
---@field name string          name of the function, without its table
---@field owner? string        table before the name, as written in the source; nil if that is the module's `M`
---@field separator string     "." or ":"
---@field arguments string[]
---@field line integer         line of the definition
---@field text string          text without annotations and examples
---@field params mr.luacats.Entry[]
---@field returns mr.luacats.Entry[]
---@field examples string[]

-- Splits "type  text". A type may have spaces inside brackets and after `:`, `,` and `|`.
local function type_and_text(rest)
  local depth = 0
  for i = 1, #rest do
    local c = rest:sub(i, i)
    if c:match "[%(%[{<]" then depth = depth + 1
    elseif c:match "[%)%]}>]" then depth = depth - 1
    elseif c == " " and depth == 0 and not rest:sub(1, i - 1):match "[:,|]%s*$" and not rest:sub(i):match "^%s*|" then
      return rest:sub(1, i - 1), (rest:sub(i):gsub("^%s+", ""))
    end
  end
  return rest, ""
end

local function entry_of(rest)
  local name, optional, after = rest:match "^([%w_.]+)(%??)%s+(.*)$"
  if not name then return nil end
  local kind, text = type_and_text(after)
  return { name = name, optional = optional == "?", type = kind, text = text }
end

-- Splits a docstring into its text and its examples, without code fences and backticks.
local function split_examples(prose)
  local text, examples, current = {}, {}, nil
  for _, line in ipairs(prose) do
    local start = line:match "^%s*Examples?:%s*(.*)$"
    if start then
      current = {}
      examples[#examples + 1] = current
      line = start
    end
    if not current then
      text[#text + 1] = line
    elseif not line:match "^%s*```" and line ~= "" then
      current[#current + 1] = line:match "^%s*`(.*)`%s*$" or line
    end
  end
  for i, lines in ipairs(examples) do examples[i] = table.concat(lines, "\n") end
  return (table.concat(text, "\n"):gsub("%s+$", "")), examples
end

-- Parses the comment lines above a function or class, given without their dashes, into text, parameters, results,
-- fields and examples.
local function read_block(lines)
  local block = { params = {}, returns = {}, fields = {}, class = nil, class_text = nil }
  local prose, last = {}, nil
  for _, line in ipairs(lines) do
    local tag, rest = line:match "^%s*@(%w+)%s*(.*)$"
    if not tag then
      -- an indented line continues the description of the annotation above it
      if last and line:match "^%s%s+%S" and #prose == last.prose then
        last.entry.text = last.entry.text .. " " .. line:gsub("^%s+", "")
      else
        prose[#prose + 1] = (line:gsub("^ ", ""))
      end
    else
      local entry
      if tag == "param" or tag == "field" then
        entry = entry_of(rest)
        if entry then table.insert(tag == "param" and block.params or block.fields, entry) end
      elseif tag == "return" then
        local kind, text = type_and_text(rest)
        entry = { type = kind, text = text }
        table.insert(block.returns, entry)
      elseif tag == "class" then
        block.class = rest:match "^[%w_.]+"
        block.parents = {}
        for parent in (rest:match ":(.*)$" or ""):gmatch "[%w_.]+" do table.insert(block.parents, parent) end
      end
      last = entry and { entry = entry, prose = #prose } or nil
    end
  end
  block.text, block.examples = split_examples(prose)
  return block
end

-- Returns owner, separator, name and arguments of the function that a line defines; nil for other code.
local function definition(code)
  local owner, separator, name, arguments = code:match "^%s*function%s+([%w_]+)([.:])([%w_.]+)%s*%(([^)]*)%)"
  if owner then return owner, separator, name, arguments end
  owner, name, arguments = code:match "^%s*([%w_]+)%.([%w_.]+)%s*=%s*function%s*%(([^)]*)%)"
  if owner then return owner, ".", name, arguments end
  owner, name = code:match "^%s*([%w_]+)%.([%w_.]+)%s*="
  if owner then return owner, ".", name, nil end
  name, arguments = code:match "^%s*local%s+function%s+([%w_]+)%s*%(([^)]*)%)"
  if name then return nil, ".", name, arguments end
  return nil
end

local function header_of(lines)
  local header = {}
  for _, line in ipairs(lines) do
    local text = line:match "^%-%-%s?([^-].*)$"
    if not text then break end
    header[#header + 1] = text
  end
  return table.concat(header, "\n")
end

---Parses the LuaCATS comments in the text of a Lua source file.
---@return table   header: the first comment; items: mr.luacats.Item[]; by_line: items by the line of their definition;
---   classes: name -> fields, text and parents; declared: names of option tables (moonrank.options);
---   locals: local name of a table -> the class that it is declared to be
---Example: `require "moonrank.help.luacats".parse("---Adds.\nfunction M.add(a, b) end").items[1].text   --> Adds.`
function M.parse(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do lines[#lines + 1] = line end
  local result = { header = header_of(lines), items = {}, by_line = {}, classes = {}, declared = {}, locals = {} }
  local comment = {}
  for number, line in ipairs(lines) do
    local doc = line:match "^%s*%-%-%-(.*)$"
    local declared = line:match '[%s=.]declare%("(mr%.[%w_.]+)",'
    if declared then result.declared[#result.declared + 1] = declared end
    if doc then
      comment[#comment + 1] = doc
    elseif #comment > 0 then
      local block = read_block(comment)
      comment = {}
      if block.class then
        result.classes[block.class] = { fields = block.fields, text = block.text, parents = block.parents }
        local held = line:match "^%s*local%s+([%w_]+)%s*=" or line:match "^%s*([%w_]+%.[%w_]+)%s*="
        if held then result.locals[held] = block.class end
      else
        local owner, separator, name, arguments = definition(line)
        if name then
          local item = block
          item.owner, item.separator, item.name, item.line = owner ~= "M" and owner or nil, separator, name, number
          item.arguments = {}
          for argument in (arguments or ""):gmatch "[^,%s]+" do item.arguments[#item.arguments + 1] = argument end
          if not arguments then
            for i, p in ipairs(item.params) do item.arguments[i] = p.name end
          end
          result.items[#result.items + 1] = item
          result.by_line[number] = item
        end
      end
    end
  end
  return result
end

return M
