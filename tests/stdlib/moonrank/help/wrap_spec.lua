-- Tests that help texts are broken into lines at the width of the terminal.
local test = require "moonrank.test"
local help = require "moonrank.help"
local wrap = require "moonrank.help.wrap"
local program = dofile "tests/support/program.lua"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

local function lines_of(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

-- Returns all words of a text, without its line ends.
local function words(text) return (text:gsub("%s+", " ")) end

describe("wrap.text", function()
  it("fills the paragraphs again that have a longer line, and no others", function()
    equal(wrap.text("one two three\nfour", 9), "one two\nthree\nfour")
    equal(wrap.text("one\ntwo\n\nthree four five", 10), "one\ntwo\n\nthree four\nfive")
    equal(wrap.text("one two three four", nil), "one two three four")
  end)
  it("continues list items below their text", function()
    equal(wrap.text("- one two three\n  four\n- five", 9), "- one two\n  three\n  four\n- five")
    equal(wrap.text("1. one two three", 10), "1. one two\n   three")
  end)
  it("continues a row below its last column, or below its name if the column is too narrow", function()
    local row = "  lr  number  " .. ("word "):rep(10) .. "end"
    for i, line in ipairs(lines_of(wrap.text(row, 50))) do
      check(#line <= 50 and line:find(i == 1 and "^  lr  number  word" or "^ +%S") and #line:match "^ *" ==
        (i == 1 and 2 or #"  lr  number  "), line)
    end
    local narrow = lines_of(wrap.text("  a_long_name_of_an_option  one two three four five six", 40))
    equal(narrow, { "  a_long_name_of_an_option", "      one two three four five six" })
  end)
  it("leaves code, tables and words that are too long as they are", function()
    local long = ("x"):rep(30)
    local code = "```lua\nlocal a = 1  -- " .. long .. " y\n```"
    local example = "Example\n  local a = 1  -- " .. long .. " y\n  b()"
    for _, text in ipairs{ code, example, "| a | " .. long .. " | b |", long } do equal(wrap.text(text, 20), text) end
    equal(wrap.text(example .. "\n\nafter the example", 10), example .. "\n\nafter the\nexample")
  end)
  it("counts letters, not bytes", function() equal(wrap.text("ää öö üü", 8), "ää öö üü") end)
end)

it("help for every name has the same words at every width, and only code is wider", function()
  for _, name in ipairs{ "mr", "mr.fit", "mr.Fold:evaluate", "mr.Tensor", "mr.losses", "ndcg", "minmax" } do
    local whole = help.text(name)
    for _, width in ipairs{ 40, 72, 100 } do
      local text, wide, code = wrap.text(whole, width), 0, false
      equal(words(text), words(whole), name)
      for _, line in ipairs(lines_of(text)) do
        code = line == "Example" or code and line:find "^  " ~= nil
        if not code and #line > width and line:find "%S%s+%S" then wide = wide + 1 end
      end
      check(wide == 0, ("%s at %d: %d lines"):format(name, width, wide))
    end
  end
end)

it("moonrank doc wraps at COLUMNS, and not in a pipe without it", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local function longest(columns)
    local _, text = program.run(("COLUMNS=%s '%s' doc mr.losses"):format(columns, program.moonrank))
    local most = 0
    for _, line in ipairs(lines_of(text)) do most = math.max(most, #line) end
    return most
  end
  local narrow, wide, whole = longest "60", longest "120", longest "''"
  check(longest "30" < longest "40" and longest "0" == whole, "narrow terminals, and no width")
  check(narrow <= 60 and wide > 60 and wide <= 120 and whole > 130, ("%d, %d, %d"):format(narrow, wide, whole))
end)

it("recipes are not wrapped", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local recipe = require("moonrank.manual.texts").recipe "top_ten".source
  local _, text = program.run(("COLUMNS=40 '%s' doc top_ten"):format(program.moonrank))
  check(text:find(recipe:gsub("\n*$", ""), 1, true), text)
end)
