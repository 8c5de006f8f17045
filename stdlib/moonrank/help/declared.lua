-- Describes the losses and the options of evaluations to programs in other languages, from the declarations of options
-- and the docstrings. python/generate_names.py writes types from it.
local core = require "moonrank.core"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"
local options = require "moonrank.options"
local shared = require "moonrank.losses.options"

local M = {}

---@class mr.help.Declared
---@field name string
---@field summary string           first sentence of the docstring
---@field draws boolean            whether the same lists and scores can give different values
---@field options mr.help.Option[]

---@class mr.help.Option
---@field name string
---@field types string[]           LuaCATS types of the values, without those among `choices`
---@field choices? any[]           allowed values
---@field default? any
---@field text string              one line of documentation
---@field only_fit? boolean        whether only mr.fit can follow the option

-- Option values of evaluations that programs in other languages cannot use, because they pass plain arrays. ties =
-- "trec" orders tied documents by their ids, which arrays do not have.
local not_of_arrays <const> = { ties = "trec" }

local function choices_of(row)
  if not row.choices then return nil end
  local list = {}
  for _, each in ipairs(row.choices) do
    if each ~= not_of_arrays[row[1]] then list[#list + 1] = each end
  end
  return list
end

local function types_of(row) return (not row.choices or row.has_more) and options.types_of(row) or {} end

---Returns the options of an option table, in the order of their declaration.
---@param name string  such as "mr.EvaluateOptions"
---@return mr.help.Option[]
---Example: `require("moonrank.help.declared").options("mr.EvaluateOptions")[1].name   --> ties`
function M.options(name)
  local fields, list = docs.fields(name), {}
  for i, row in ipairs(options.declared[name].rows) do
    list[i] = { name = row[1], types = types_of(row), choices = choices_of(row), default = row.default,
      text = fields[i].text, only_fit = shared.only_fit[row[1]] ~= nil or nil }
  end
  return list
end

---Returns descriptions of the library's losses, sorted by name. Losses that scripts defined are left out.
---@return mr.help.Declared[]
---Example: `require("moonrank.help.declared").losses()[1].name   --> ap`
function M.losses()
  local losses, list = require "moonrank.losses", {}
  for _, name in ipairs(losses.names()) do
    local item = docs.item(losses[name])
    if item and item.name == name and core.stdlib_text(select(2, docs.item(losses[name]))) then
      local text = entries.first_sentence(item.text)
      list[#list + 1] = { name = name, summary = text:gsub("%$", ""), draws = not losses[name]().repeats,
        options = M.options(item.params[1].type) }
    end
  end
  return list
end

return M
