-- Tests that the program starts without loading libraries that few runs need, and loads each when it is first used.
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, it, skip = test.check, test.describe, test.it, test.skip

local program = dofile "tests/support/program.lua"
local mpi = core.mpi_library()

-- Returns the names of the shared libraries that a program has loaded after it ran this code, without version numbers
-- after ".so".
local function libraries_after(code, environment)
  local ok, text = program.run(([[%s %s -e '%s; io.write(io.open("/proc/self/maps"):read "a")']]):format(
    environment or "", program.moonrank, code))
  check(ok, text)
  local found = {}
  for name in text:gmatch "/([^/\n]-)%.so[%d.]*\n" do found[name] = true end
  check(found.libc, text)
  return found
end

describe("the program", function()
  it("starts without loading cuBLAS, MPI, libarchive or the libraries that these need", function()
    local found = libraries_after "mr.tensor{1, 2}:sum()"
    for _, name in ipairs{ "libcublas", "libcublasLt", "libmpi", "libmpich", "libopen-rte", "libarchive",
      "libxml2", "libicudata" } do
      check(not found[name], name)
    end
  end)

  it("loads MPI when core.mpi_library is called", function()
    if not mpi then return skip "MPI is not built in" end
    local found = libraries_after [[require "moonrank.core".mpi_library()]]
    check(found.libmpi or found.libmpich)
  end)

  it("runs if MPI cannot be loaded, and --version says why", function()
    if not mpi or not mpi:match "^Open MPI v4" then
      return skip "this is not Open MPI 4, whose library is libmpi.so.40"
    end
    local folder = files.new_folder()
    files.write(folder .. "/libmpi.so.40", "")
    local environment = "LD_LIBRARY_PATH=" .. folder
    local ok, text = program.run(environment .. " " .. program.moonrank .. " --version")
    local found = libraries_after("", environment)
    check(ok, text)
    check(text:find("\nmpi: ", 1, true) and text:find(folder .. "/libmpi.so.40: file too short", 1, true), text)
    check(text:find("openmpi-bin", 1, true), text)
    check(not found.libmpi)
  end)

  it("raises an error at each use of a library that cannot be loaded, and goes on", function()
    local folder = files.new_folder()
    for _, name in ipairs{ "libjpeg.so.8", "libjpeg.so.62", "libpng16.so.16", "libarchive.so.13", "libxgboost.so.0" } do
      files.write(folder .. "/" .. name, "")
    end
    for library, use in pairs{
      libjpeg = [[core.read_images({ "tests/golden/pictures/colour.jpg" }, 5, 7, false)]],
      libpng = [[core.read_images({ "tests/golden/pictures/colour.png" }, 5, 7, false)]],
      libarchive = ([[mr.save_tensors("%s/x.npz", { x = mr.ones(2) })]]):format(folder),
      libxgboost = [[core.xgboost_version()]],
    } do
      local script = files.new_folder() .. "/use.lua"
      files.write(script, ([[
        local mr, core = require "moonrank", require "moonrank.core"
        for i = 1, 2 do print("use " .. i, pcall(function() return %s end)) end]]):format(use))
      local ok, text = program.run(("LD_LIBRARY_PATH=%s %s %s"):format(folder, program.moonrank, script))
      check(ok, library .. ": " .. text)
      for i = 1, 2 do
        local said = text:match(("use %d\tfalse\t([^\n]*)"):format(i)) or ""
        check(said:find(library, 1, true) and said:find("file too short", 1, true), library .. ": " .. text)
      end
    end
  end)
end)
