-- Tests that a module which is run as a program is named as such, and that scripts that do something are left alone.
local files = require "tests.support.files"
local program = dofile "tests/support/program.lua"
local test = require "moonrank.test"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

if not program.moonrank then
  it("a module that is run is named as such", function() test.skip "MOONRANK does not name the program" end)
  return
end

-- Writes the text into a file and runs the file. Returns its exit status, and what it printed on both streams.
local function run(text, words)
  local path = files.written(text)
  local code = ("{ %s %s; printf '\nstatus %%d' $?; }"):format(program.moonrank, (words or "%s"):format(path))
  local _, printed = program.run(code)
  local said, status = printed:match "^(.*)\nstatus (%d+)$"
  return math.tointeger(status), said, path
end

describe("a script that writes nothing", function()
  it("ends with status 2 and one line that names it, if it returns a table or a function", function()
    for _, returned in ipairs{ "{}", "{ f = print }", "print", "setmetatable({}, { __index = error })" } do
      local status, said, path = run("local M = 1\nreturn " .. returned)
      equal(status, 2, said)
      check(said:find(path .. " is a module", 1, true) and select(2, said:gsub("\n", "")) <= 1, said)
    end
    check(select(2, run("return { ... }", "%s --nonsense x")):find "is a module", "with words")
  end)

  it("ends with status 0 and prints nothing, if it returns nothing or another value", function()
    for _, text in ipairs{ "", "local x = 1", "return", "return nil", "return 3", "return 'text'", "return true" } do
      local status, said = run(text)
      equal({ status, said }, { 0, "" }, text)
    end
  end)

  it("may return a table to -i and as standard input", function()
    equal((run("return {}", "-i %s < /dev/null")), 0)
    equal((run("return {}", "- < %s")), 0)
  end)
end)

it("a script that wrote something may return a table", function()
  for _, text in ipairs{ "print(1)", "io.write 'x'", "io.stdout:write 'x'", "io.stderr:write 'x'",
    "local f = io.open(os.tmpname(), 'w') f:write 'x' f:close()", "io.open(os.tmpname(), 'w'):write 'x'" } do
    local status, said = run(text .. "\nreturn {}")
    equal(status, 0, text)
    check(not said:find "module", said)
  end
end)

it("an error in a script that returns a table is reported as usual", function()
  local status, said = run "error 'my words' return {}"
  equal(status, 1)
  check(said:find("my words", 1, true) and not said:find "module", said)
end)
