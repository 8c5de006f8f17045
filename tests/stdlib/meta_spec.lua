-- Tests the annotations that `moonrank --dump-api` writes for editors: the native core, and tables of options.
local docs = require "moonrank.help.docs"
local dump_api = require "moonrank.help.dump_api"
local luacats = require "moonrank.help.luacats"
local test = require "moonrank.test"

local text = dump_api.text()

test.it("moonrank --dump-api writes valid Lua, which raises an error when it is run", function()
  test.raises(assert(load(text, "@meta")), "editors")
end)

test.it("moonrank --dump-api writes every field of every table of options", function()
  local classes = luacats.parse(text:gsub("\n\n%-%-%-@class", "\nlocal _ = {}\n---@class")).classes
  for _, name in ipairs(docs.option_names()) do
    test.check(classes[name], name)
    local fields = {}
    for _, field in ipairs(classes[name].fields) do fields[field.name] = field end
    for _, field in ipairs(docs.fields(name)) do
      test.check(fields[field.name], name .. "." .. field.name)
      test.equal(fields[field.name].optional, field.optional)
    end
  end
end)
