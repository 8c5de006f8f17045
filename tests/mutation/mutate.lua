-- Mutation testing: changes a Lua file in one place at a time (operators.lua) in a copy of the tree, and prints the
-- changes that no test notices. A change counts as noticed if a test fails or takes more than --seconds of CPU time.
-- moonrank tests/mutation/mutate.lua --file scripts/objectives/protocol.lua \
--   --tests tests/scripts/objectives_protocol_spec.lua
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match "^(.*/)" or "./"
local operators = dofile(here .. "operators.lua")

local args = mr.args{
  file = { type = "string", path = "file", required = true,
    help = "the file that is changed, from the root of the repository" },
  tests = { type = "string", required = true, help = "specs that should notice, separated by commas" },
  only = { default = "", help = "one operator: constant, comparison, arithmetic, word or call" },
  lines = { default = "", help = "lines of the file, first-last", shown = "all" },
  seconds = { default = 60, least = 1, help = "processor time after which a spec has noticed, too" },
  show = { default = false, help = "print the mutants, and run nothing" },
}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a shell command. Returns its exit status and its output.
local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo status $?"))
  local text = pipe:read "a"
  pipe:close()
  return tonumber(text:match "status (%d+)%s*$"), text
end

local function must(command)
  local status, text = run(command)
  if status ~= 0 then error(("%s\n%s"):format(command, text:sub(-2000)), 0) end
  return text
end

local function chosen_mutants()
  local file <close> = assert(io.open(args.file, "rb"))
  local first, last = args.lines:match "^(%d+)-(%d+)$"
  local found = {}
  for _, each in ipairs(operators.mutants(file:read "a")) do
    local inside = not first or each.line >= tonumber(first) and each.line <= tonumber(last)
    if inside and (args.only == "" or each.operator == args.only) then found[#found + 1] = each end
  end
  return found
end

local function line_of(each)
  return ("%s:%d  %-10s %s  ->  %s"):format(args.file, each.line, each.operator, each.was, each.now)
end

local program = must "readlink /proc/$PPID/exe":match "[^\n]+"
local data = os.getenv "MOONRANK_DATA" or must "cd ../shared/data 2>/dev/null && pwd || true":match "[^\n]+"

-- Returns true if all tests pass in the changed copy of the tree.
local function pass(copy)
  local settings = ("MOONRANK=%s MOONRANK_STDLIB=%s MOONRANK_SAMPLES_GIB=0 %s"):format(
    quoted(program), quoted(copy .. "/stdlib"), data and "MOONRANK_DATA=" .. quoted(data) or "")
  for spec in args.tests:gmatch "[^,]+" do
    local status, text = run(("cd %s && ulimit -t %d; env %s timeout -k 5 %d %s test %s"):format(
      quoted(copy), args.seconds, settings, 10 * args.seconds, quoted(program), quoted(spec)))
    if status ~= 0 then return false, text end
  end
  return true
end

-- Makes a copy of all files that git tracks, and of untracked files that git does not ignore.
local function make_copy()
  local copy = must "mktemp -d":match "[^\n]+"
  must(("git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C %s"):format(quoted(copy)))
  return copy
end

local function try_all(copy, mutants)
  local survivors, path = {}, copy .. "/" .. args.file
  for i, each in ipairs(mutants) do
    core.write_file(path, each.text)
    if pass(copy) then
      survivors[#survivors + 1] = each
      print("not noticed: " .. line_of(each):gsub("\n%s*", " "))
      io.stdout:flush()
    elseif i % 20 == 0 then
      print(("%d of %d"):format(i, #mutants))
      io.stdout:flush()
    end
  end
  return survivors
end

local mutants = chosen_mutants()
if args.show then
  for _, each in ipairs(mutants) do print((line_of(each):gsub("\n%s*", " "))) end
  print(("%d mutants"):format(#mutants))
  return
end
local copy = make_copy()
local ok, problem = pcall(function()
  local well, text = pass(copy)
  if not well then error("the tests fail without a change:\n" .. text:sub(-2000), 0) end
  local survivors = try_all(copy, mutants)
  print(("%d mutants, %d noticed (%.1f %%), %d not noticed"):format(#mutants, #mutants - #survivors,
    100 * (#mutants - #survivors) / math.max(1, #mutants), #survivors))
end)
must("rm -rf -- " .. quoted(copy))
if not ok then error(problem, 0) end
