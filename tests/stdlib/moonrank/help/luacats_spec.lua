-- Tests reading comments above functions (LuaCATS annotations) as documentation.
local test = require "moonrank.test"
local parse = require("moonrank.help.luacats").parse
local it = test.it

local source = [[
-- A module.
-- Its second line.
local M = {}

---@class mr.Foo
---@field size? integer   how many (default 3)
---@field f fun(x: number, y: number): number
local Foo = {}

---Does a thing. More
---of it.
---@param t table<string, any>  what to do
---@param options? mr.Foo
---   and how
---@return number | nil  the answer
---@return string
---Example: `M.doit({}, {size = 1})   --> 4`
function M.doit(t, options)
end

---Grows.
function Foo:grow(by) end

-- not documentation
function M.plain() end

---Two lines of example.
---Example:
---```lua
---local x = 1
---x + 1 --> 2
---```
M.value = function(a, ...) end
]]

it("luacats.parse reads functions, methods, classes and examples", function()
  local docs = parse(source)
  test.equal(docs.header, "A module.\nIts second line.")
  test.equal(#docs.items, 3)
  local doit, grow, value = table.unpack(docs.items)
  test.equal({ doit.name, doit.owner, doit.text, doit.line }, { "doit", nil, "Does a thing. More\nof it.", 18 })
  test.equal(doit.arguments, { "t", "options" })
  test.equal(doit.params[1], { name = "t", type = "table<string, any>", text = "what to do", optional = false })
  test.equal(doit.params[2], { name = "options", type = "mr.Foo", text = " and how", optional = true })
  test.equal(doit.returns, { { type = "number | nil", text = "the answer" }, { type = "string", text = "" } })
  test.equal(doit.examples, { "M.doit({}, {size = 1})   --> 4" })
  test.equal({ grow.name, grow.owner, grow.separator }, { "grow", "Foo", ":" })
  test.equal(docs.locals.Foo, "mr.Foo")
  test.equal(docs.by_line[18], doit)
  test.equal(docs.classes["mr.Foo"].fields[2].type, "fun(x: number, y: number): number")
  test.equal(docs.classes["mr.Foo"].fields[1],
    { name = "size", type = "integer", text = "how many (default 3)", optional = true })
  test.equal(value.examples, { "local x = 1\nx + 1 --> 2" })
  test.equal(value.arguments, { "a", "..." })
end)

it("luacats.parse reads an empty text and a text without documentation", function()
  test.equal(#parse("").items, 0)
  test.equal(#parse("local x = 1\nreturn x").items, 0)
end)
