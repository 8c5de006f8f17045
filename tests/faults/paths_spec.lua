-- A pipe, a folder, a device or a dangling link in place of a path. Every function that takes a path, and every
-- variable that names a folder, must give an immediate error that names the path, and change nothing.
local paths = dofile "tests/faults/paths.lua"
local programs = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not programs.moonrank then
  it("functions name a path that they cannot use", function() test.skip "MOONRANK does not name the program" end)
  return
end

-- Shell commands that make one path of each kind, such as a folder, a pipe, a dangling link or a device. Names have the
-- file name ending that the tested function needs.
local make = [[cd %s && mkdir folder%s empty && mkfifo fifo%s && ln -s fifo%s to_fifo%s && ln -s none%s lost%s &&
  ln -s self%s self%s && for device in null zero full; do ln -s /dev/$device $device%s; done &&
  printf '1 qid:1 1:2\n' > text && printf x > file]]
local kinds = { "folder", "fifo", "to_fifo", "lost", "self", "null", "zero", "full", "file/inside" }

-- Returns a listing of a folder with types, names, sizes and targets of links, to see changes.
local function listing(folder)
  return sweeps.capture(
    ("cd %s && find . -name '*-cache*' -prune -o -printf '%%y %%p %%s %%l\n' | grep -v '^d' | sort"):format(folder))
end

-- Runs a piece of Lua code with every kind of path, in one process. Returns a line for each: "kind: error message", or
-- "kind: none".
local function errors_of(folder, code, ending)
  local lines = { "io.stdout:setvbuf 'line'", "local mr, core, said = require 'moonrank', require 'moonrank.core'",
    ("local text, empty = %q, %q"):format(folder .. "/text", folder .. "/empty") }
  for _, kind in ipairs(kinds) do
    local call = code:gsub("%%s", function() return ("%q"):format(folder .. "/" .. kind .. ending) end)
    lines[#lines + 1] =
      ("said = select(2, xpcall(function() %s return 'none' end, core.error_text)) print('%s: ' .. said)")
      :format(call, kind)
  end
  sweeps.write(folder .. "/empty/try.lua", table.concat(lines, "\n"))
  local _, said = programs.run(("cd %s/empty && timeout -k 5 60 %s try.lua"):format(folder, programs.moonrank))
  return said
end

local function attack(code, ending, may_work)
  sweeps.in_folder(function(folder)
    check(os.execute((make:gsub("%%s", ending):gsub("^cd " .. ending, "cd " .. folder))), "the folder was not made")
    local before = listing(folder)
    local said = errors_of(folder, code, ending)
    for _, kind in ipairs(kinds) do
      local about = said:match("%f[%w_/]" .. kind .. ": ([^\n]*)")
      check(about, ("%s, %s: it did not end:\n%s"):format(code, kind, said))
      if not (may_work and may_work[kind]) then check(about ~= "none", ("%s, %s: no error"):format(code, kind)) end
      for _, wrong in ipairs{ "attempt to", "std::", "memory", "stdlib/moonrank", "basic_" } do
        check(not about:find(wrong, 1, true), ("%s, %s: %s"):format(code, kind, about))
      end
      check(about == "none" or about:find(kind .. ending, 1, true),
        ("%s, %s: the path is not named: %s"):format(code, kind, about))
    end
    os.execute(("rm -rf %s/empty/*"):format(folder))
    if not may_work then equal(listing(folder), before, code) end
  end)
end

for _, code in ipairs(paths.reads) do
  it("a reader names a path that it cannot read: " .. code, function() attack(code, "") end)
end

for _, each in ipairs(paths.writes) do
  it("a writer names a path that it cannot write: " .. each[1] .. each[2], function()
    if each[2] ~= "" and not programs.has_gnuplot() then return test.skip "gnuplot is not there" end
    attack(each[1], each[2], each.folder and { folder = true } or nil)
  end)
end

it("the program names a path from its command line, or from a variable, that it cannot use", function()
  sweeps.in_folder(function(folder)
    check(os.execute((make:gsub("%%s", ""):gsub("^cd ", "cd " .. folder))), "the folder was not made")
    local program = programs.moonrank
    local asked <const> = { program .. " results %s", "XDG_DATA_HOME=%s " .. program .. " data get movielens",
      "MOONRANK_DATA=%s " .. program .. " -e 'print(1)'", "MOONRANK_STDLIB=%s " .. program .. " -e 'print(1)'" }
    for _, kind in ipairs{ "fifo", "to_fifo", "lost", "self", "null", "full", "file/inside" } do
      for _, command in ipairs(asked) do
        local path = folder .. "/" .. kind
        local ok, said =
          programs.run(("cd %s/empty && env timeout -k 5 60 env %s"):format(folder, command:format(path)))
        check(not ok, command .. ", " .. kind .. ": no error")
        check(said:find("moonrank: ", 1, true) == 1 and said:find(path, 1, true) and not said:find "filesystem error",
          ("%s, %s: %s"):format(command, kind, said))
      end
    end
  end)
end)

it("a script that is a pipe without a writer waits until Ctrl-C", function()
  sweeps.in_folder(function(folder)
    os.execute(("mkfifo %s/fifo"):format(folder))
    local id = sweeps.start(folder, "fifo")
    -- Ctrl-C is sent repeatedly, because on a busy machine the first one may come before the program waits at the pipe
    for _ = 1, 20 do
      sweeps.wait(0.3)
      if sweeps.read(folder .. "/status") ~= "" then break end
      sweeps.signal(id, "INT")
    end
    equal((sweeps.finish(folder)), 130)
  end)
end)
