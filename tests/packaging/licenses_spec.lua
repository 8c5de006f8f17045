-- Tests the licences in the packages, and those that the list of libraries names.
local core = require "moonrank.core"
local files = require "tests.support.files"
local json = dofile "tests/support/json.lua"
local program = dofile "tests/support/program.lua"
local test = require "moonrank.test"
local check, it = test.check, test.it

-- Returns the name of a Debian package that packaging/libraries.lua names and that is not installed; nil if all are.
local function missing()
  for _, library in ipairs(dofile "packaging/libraries.lua") do
    if not core.is_file(("/usr/share/doc/%s/copyright"):format(library[2])) then return library[2] end
  end
end

it("every library has a licence in the list of libraries, and its text in the folder", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  if missing() then return test.skip("no Debian package " .. missing()) end
  local folder, list = files.new_folder(), files.new_path ".json"
  files.write(folder .. "/CMakeCache.txt", "")
  local ok, said = program.run(("%s packaging/sbom.lua 1.2 %s >%s && %s packaging/licenses.lua %s"):format(
    program.moonrank, folder, list, program.moonrank, folder))
  check(ok, said)
  local components = json.read(list).components
  check(#components > 10, #components)
  for _, component in ipairs(components) do
    local license = component.licenses[1].expression
    check(license == "blessing" or license:find "^%u[%w.+-]+", component.name)
    local text = files.read(("%s/%s.txt"):format(folder, component.name))
    check(text:lower():find("copyright", 1, true), component.name)
    for name in text:gmatch "common%-licenses/([%w.-]*%w)" do
      check(core.is_file(("%s/%s.txt"):format(folder, name)), name)
    end
  end
end)

it("the copyright file of a .deb names the libraries that are compiled into it, and has their licences beside it",
  function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  if missing() then return test.skip("no Debian package " .. missing()) end
  local folder = files.new_folder()
  core.make_folder(folder .. "/licenses/x")
  local ok, said = program.run(("%s packaging/licenses.lua %s/licenses moonrank"):format(program.moonrank, folder))
  check(ok, said)
  local text, count = files.read(folder .. "/copyright"), 0
  check(text:find("^Format: %S+\n") and text:find("\nFiles: %*\nCopyright: .-\nLicense: Apache%-2%.0\n"), text)
  for _, library in ipairs(dofile "packaging/libraries.lua") do
    local has_text = core.is_file(("%s/licenses/%s.txt"):format(folder, library[1]))
    local is_named = text:find(("%s, from Debian's %s: %s\n"):format(library[1], library[2], library[3]), 1, true)
    check(has_text == (is_named ~= nil), library[1])
    count = count + (has_text and 1 or 0)
  end
  check(count > 3 and text:find "eigen" and not text:find "sqlite", text)
end)
