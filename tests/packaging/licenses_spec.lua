-- Tests the licences in the packages, and those that the list of libraries names.
local core = require "moonrank.core"
local files = require "tests.support.files"
local json = dofile "tests/support/json.lua"
local program = dofile "tests/support/program.lua"
local test = require "moonrank.test"
local check, it = test.check, test.it

it("every library has a licence in the list of libraries, and its text in the folder", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  for _, library in ipairs(dofile "packaging/libraries.lua") do
    if not core.is_file(("/usr/share/doc/%s/copyright"):format(library[2])) then
      return test.skip("no Debian package " .. library[2])
    end
  end
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
