-- Tests the man page that packaging/documents.lua writes.
local core = require "moonrank.core"
local files = require "tests.support.files"
local program = dofile "tests/support/program.lua"
local test = require "moonrank.test"
local check, it = test.check, test.it

it("the man page has a section with the help of every command", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local folder, commands = files.new_folder(), { "test", "doc", "results", "data" }
  for _, name in ipairs(core.list_folder "stdlib/moonrank/command") do
    local command = name:match "^(%l+)%.lua$"
    if command ~= "words" then commands[#commands + 1] = command end
  end
  check(#commands > 7, #commands)
  local ok, said = program.run(("%s packaging/documents.lua %s %s"):format(program.moonrank, program.moonrank, folder))
  check(ok, said)
  local page = files.read(folder .. "/moonrank.1"):gsub("\\%-", "-"):gsub("\n\\&", "\n"):gsub("\\e", "\\")
  for _, command in ipairs(commands) do
    local found, help = program.run(("%s %s --help"):format(program.moonrank, command))
    check(found and page:find((".SH MOONRANK %s\n.nf\n%s.fi\n"):format(command:upper(), help), 1, true), command)
  end
end)
