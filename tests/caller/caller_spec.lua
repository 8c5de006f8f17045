-- A short run of the random caller: three sessions of a fixed seed. Long ones: tests/caller/README.md.
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal = test.it, test.check, test.equal

local here = sweeps.capture("pwd"):match "[^\n]+"

local why_not = sweeps.why_not_bare()

local function sessions(part, calls)
  if why_not then return test.skip(why_not) end
  sweeps.in_folder(function(folder)
    local words = ("%s %s/tests/caller/run.lua --part %s --sessions 3 --calls %d 2>&1"):format(sweeps.moonrank, here, part, calls)
    local pipe = assert(io.popen(("cd %s && %s"):format(folder, words)))
    local said = pipe:read "a"
    equal(pipe:close(), true, said)
    local made, worked, all = said:match "(%d+) calls in 3 sessions, (%d+) of (%d+) functions worked"
    check(made and tonumber(made) >= 3 * calls and tonumber(worked) > 0.85 * tonumber(all), said)
  end)
end

it("random calls of the core end neither the program nor in errors of the language, and most functions work at times", function()
  sessions("core", 2500)
end)

it("so do the library's examples with changes", function() sessions("library", 500) end)

it("what leads to an end, or to an error of the language, is found among other lines", function()
  if why_not then return test.skip(why_not) end
  sweeps.in_folder(function(folder)
    local function shortened(part, other, ...)
      local lines = {}
      for i = 1, 11 do lines[i] = other end
      for i, line in ipairs{ ... } do lines[4 * i] = line end
      sweeps.write(folder .. "/record.lua", table.concat(lines, "\n") .. "\n")
      local said = sweeps.capture(("cd %s && rm -rf found && %s %s/tests/caller/run.lua --part %s --short record.lua"):format(folder,
        sweeps.moonrank, here, part))
      return said, sweeps.read(folder .. "/found/short-of.lua")
    end
    local said, lines = shortened("core", "v[1] = call('mr.Tensor:sum', mr.tensor{1, 2})", "v[2] = 3", "os.exit(v[2])")
    equal({ said, lines }, { "found/short-of.lua: status 3\n", "v[2] = 3\nos.exit(v[2])\n" })
    local fails = "try('fail', 'require(\"moonrank.check\").fail(nil, 1)')"
    said, lines = shortened("library", "try('lists', 'mr.lists{{1, 0}}')", fails)
    check(said:find("attempt to index a nil value", 1, true), said)
    equal(lines, fails .. "\n")
  end)
end)

it("a record runs again", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    sweeps.write(folder .. "/record.lua", [[
v[1] = mr.tensor{1, 2}
v[2], v[3] = call("mr.Tensor:gt", v[1], 1)
v[4], v[5] = call("mr.Tensor:gt", v[1], "x")
]])
    local text = sweeps.capture(("cd %s && %s %s/tests/caller/run.lua --replay record.lua"):format(folder, sweeps.moonrank, here))
    equal(text, "worked mr.Tensor:gt 1\n")
  end)
end)
