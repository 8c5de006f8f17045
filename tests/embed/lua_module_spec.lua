-- Tests the Lua module moonrank.so in Debian's lua5.4: scripts must print the same as in the program `moonrank`.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, skip = test.it, test.equal, test.check, test.skip

local lua <const> = "/usr/bin/lua5.4"

-- Returns why the module cannot be tested here, or nil and the command line before a script's name.
local function host_here()
  local folder = (sweeps.moonrank or ""):match "^(.*)/"
  if not folder then return "MOONRANK does not name the program" end
  for _, path in ipairs{ lua, folder .. "/moonrank.so" } do
    local file = io.open(path, "rb")
    if not file then return path .. " is not there" end
    file:close()
  end
  return nil, ("LUA_CPATH='%s/?.so' LUA_INIT_5_4= LUA_INIT= %s "):format(folder, lua)
end

local why_not, host = host_here()

local function it_in_lua(name, body)
  it(name, function()
    if why_not then return skip(why_not) end
    body()
  end)
end

local function exit_of(code)
  local command = host .. ("-e %q 2>&1; echo status $?"):format(code:gsub("\n", " "))
  return sweeps.capture(command)
end

it_in_lua("lua5.4 prints for scripts/quickstart.lua what moonrank prints", function()
  local words = "scripts/quickstart.lua --smoke 2>/dev/null"
  local found = sweeps.capture(host .. words)
  check(#found > 500, found)
  equal(found, sweeps.capture(("'%s' %s"):format(sweeps.moonrank, words)))
end)

it_in_lua("errors in lua5.4 name the script's line, and exits keep their status", function()
  local found = exit_of "local mr = require 'moonrank' print(mr.tensor{1, 2} + mr.tensor{1, 2, 3})"
  check(found:find("(command line):1", 1, true) and found:find "status 1", found)
  equal(exit_of "require 'moonrank' os.exit(3, true)", "status 3\n")
  equal(exit_of "require 'moonrank' x = require('moonrank').zeros{10} os.exit(4)", "status 4\n")
  check(exit_of("require('moonrank').exit(2, 'no such set')"):find "no such set", "mr.exit")
end)

it_in_lua("the library can be loaded again after package.loaded was emptied", function()
  local code = [[local mr = require 'moonrank' for name in pairs(package.loaded) do
    if name:find '^moonrank' then package.loaded[name] = nil end end
    local again = require 'moonrank' print(again ~= mr, again.zeros{2}:sum():item())]]
  equal(exit_of(code), "true\t0.0\nstatus 0\n")
end)

it_in_lua("sweeps in lua5.4 run in its process, and workers are an error", function()
  sweeps.in_folder(function(place)
    local sweep = [[local mr = require 'moonrank' local found = mr.sweep{ name = 'a', store = '%s/%s.db', workers = %s,
      progress = false, sampler = 'random', trials = 3, space = { rate = mr.loguniform(0.1, 0.2) },
      run = function(trial) return trial.rate end } print(#found:trials().rows)]]
    equal(exit_of(sweep:format(place, "a", "nil")), "3\nstatus 0\n")
    local found = exit_of(sweep:format(place, "b", "2"))
    check(found:find "workers is 2" and found:find "status 1", found)
  end)
end)

it_in_lua("Ctrl-C ends long work in lua5.4", function()
  sweeps.in_folder(function(place)
    sweeps.write(place .. "/long.lua", [[
local mr = require "moonrank"
local file = assert(io.open(arg[1], "w"))
file:close()
mr.bounds.distribution("ndcg", { n = 300, p = 150, method = "sampled", samples = 100000000 })
]])
    -- a shell ignores Ctrl-C for commands in the background; env restores the default handler
    local run = [[%s %s/long.lua %s/begun 2>%s/err & id=$!
      while [ ! -e %s/begun ]; do sleep 0.02; done; sleep 0.3; kill -INT $id; wait $id; echo status $?]]
    local command = run:format(host, place, place, place, place):gsub("^(.-)(/usr/bin/lua5%.4)",
      "%1env --default-signal=INT %2")
    equal(sweeps.capture(command), "status 1\n")
    check(sweeps.read(place .. "/err"):find "interrupted", "the error")
  end)
end)

it_in_lua("a locale with a decimal comma is an error in lua5.4", function()
  sweeps.in_folder(function(place)
    if not os.execute(("localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1"):format(place)) then
      skip "localedef does not make de_DE.UTF-8 (on Debian: apt install locales)"
    end
    local code = "os.setlocale('de_DE.UTF-8') %s print(pcall(require, 'moonrank')) print(os.setlocale(nil, 'collate'))"
    local function run(more) return sweeps.capture(("LOCPATH=%s %s -e %q"):format(place, host, code:format(more))) end
    check(run(""):find "numeric", run(""))
    local found = run "os.setlocale('C', 'numeric')"
    check(found:find "^true" and found:find "de_DE", found)
  end)
end)
