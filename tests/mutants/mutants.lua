-- Puts in changes of one line, one at a time, and says which of them no test notices (README.md). The working tree is not touched: a copy is
-- changed. Changes of C++ are built, in the build folder of the copy; the first build takes as long as any.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match("^(.*/)") or "./"
local lists = { "lua", "cpp", "repairs" }

local args = mr.args{
  list = { default = "lua", choices = lists, help = "changes of the library, of the core, or what puts repaired defects back" },
  copy = { path = "new folder", default = "/tmp/moonrank-mutants",
    help = "folder of the copy, new, empty or made by this; what was built in it is kept" },
  only = { default = "", help = "changes whose file, or whose defect, has this text" },
  seconds = { default = 120, least = 1, help = "of a processor after which a test has noticed, too" },
  sessions = { default = 30, least = 1, help = "most that random calls get" },
  tools = { default = false, help = "of repaired defects: fuzzing and random calls alone; tests are named without trying them" },
  jobs = { default = 2, least = 1, help = "compilers at a time" },
  write = { path = "new file", default = "", help = "a Markdown file for the table" },
}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a shell command; its status, and what it printed.
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

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- What else is in the copy is removed: this says that the folder is one.
local mark <const> = ".moonrank-mutants"
local mark_path = args.copy .. "/" .. mark

-- An error where the folder holds what is no copy.
local function check_folder()
  if core.file_exists(mark_path) or not core.file_exists(args.copy) then return end
  if run(('test -z "$(ls -A -- %s)"'):format(quoted(args.copy))) ~= 0 then
    error(("--copy: %s is not empty, and no copy that this made: name a new folder"):format(args.copy), 0)
  end
end

if args.tools and args.list ~= "repairs" then error("--tools: is of --list repairs", 0) end
check_folder()
local root = must("git -C " .. quoted(here) .. " rev-parse --show-toplevel"):match "[^\n]+"
local own = must "readlink /proc/$PPID/exe":match "[^\n]+"  -- this program, which changes of the library are tried with
local build = args.copy .. "/build/cpu"

-- What is built stays, and is built again where the tree has changed: files that are the same keep their time.
local function make_copy()
  must("mkdir -p " .. quoted(args.copy))
  core.write_file(mark_path, "A copy of a working tree, made by tests/mutants/mutants.lua, which removes what else is here.\n")
  local kept = { ["./" .. mark] = true }
  for path in must("git -C " .. quoted(root) .. " ls-files"):gmatch "[^\n]+" do
    kept["./" .. path] = true
    local from, to = root .. "/" .. path, args.copy .. "/" .. path
    if core.file_exists(from) and not (core.file_exists(to) and read(from) == read(to)) then
      must(("mkdir -p %s && cp %s %s"):format(quoted(to:match "^(.*)/"), quoted(from), quoted(to)))
    end
  end
  for path in must(("cd %s && find . -path ./build -prune -o -type f -print"):format(quoted(args.copy))):gmatch "[^\n]+" do
    if path:find "^%./" and not kept[path] then os.remove(args.copy .. "/" .. path) end
  end
end

-- A change of the core has to be built.
local function compiled(each) return each.file:find "%.lua$" == nil end

-- The names of what might notice: a text of names, or a list of names with spaces; of repaired defects the tools before the tests.
local function finders_of(each)
  if type(each.by) == "table" then
    local tools = each.tools or {}
    return args.tools and tools or table.move(each.by, 1, #each.by, #tools + 1, { table.unpack(tools) })
  end
  local names = {}
  for name in each.by:gmatch "%S+" do names[#names + 1] = name end
  return names
end

local function is_tool(name) return name:find "^fuzz " ~= nil or name:find "^calls " ~= nil end

local replay = "every parser accepts or refuses its seeds, its corpus and changes of them"

-- The command that runs what has this name, in the copy.
local function command_of(name, program, sessions)
  local parser = name:match "^fuzz (.*)"
  local case = parser and replay or name:match "^case (.*)"
  if case then
    return ("%s %s/moonrank_tests %s --warn NoTests"):format(parser and "MOONRANK_FUZZ=" .. parser or "", quoted(build),
      quoted(case:gsub(",", "\\,")))
  end
  local part = name:match "^calls (%l+)"
  if part then
    local words = ("--part %s --sessions %d --seconds 10 --first --shorten 0 --found build/found"):format(part, sessions)
    return ("%s tests/caller/run.lua %s"):format(quoted(program), words)
  end
  local spec = ("tests/stdlib/moonrank/%s_spec.lua"):format(name)
  if not core.file_exists(args.copy .. "/" .. spec) then spec = ("tests/%s_spec.lua"):format(name) end
  return ("test -e %s && %s test %s"):format(spec, quoted(program), spec)
end

local function needs_cases(each)
  for _, name in ipairs(finders_of(each)) do
    if name:find "^fuzz " or name:find "^case " then return true end
  end
  return false
end

-- Beside other work a processor's seconds take longer; what waits for ever uses none.
local waits, late = 10, { [124] = ", which took too long", [137] = ", which took too long" }

-- Whether what has this name passes in the copy, seconds, what was printed, and whether it was ended.
local function passes(name, program, sessions)
  local began = core.clock()
  local seconds = name:find "^calls " and 3600 or args.seconds
  local command = ("ulimit -t %d; %s"):format(seconds, command_of(name, program, sessions or args.sessions))
  local status, said = run(("cd %s && export MOONRANK=%s MOONRANK_STDLIB=%s MOONRANK_SAMPLES_GIB=0 && timeout -k 5 %d sh -c %s"):format(
    quoted(args.copy), quoted(program), quoted(args.copy .. "/stdlib"), waits * seconds, quoted(command)))
  return status == 0, core.clock() - began, said, late[status] or ""
end

local function built(targets)
  return run(("cmake --build %s --target %s -j%d"):format(quoted(build), targets, args.jobs)) == 0
end

-- Builds what the change needs; whether that worked.
local function make(each)
  if not compiled(each) and not needs_cases(each) then return own end
  return built(needs_cases(each) and "moonrank moonrank_tests" or "moonrank") and build .. "/moonrank" or nil
end

-- Builds with a change of a header that nearly all files include in some objects alone. To the build nothing has changed: times are put back, and
-- what is linked is gone.
local function make_some(each, path, text, changed)
  local function at_its_time(file, make_it)
    local time = must("stat -c %.Y " .. quoted(file)):match "%S+"
    make_it()
    must(("touch -d @%s %s"):format(time, quoted(file)))
  end
  at_its_time(path, function()
    core.write_file(path, changed)
    for _, object in ipairs(each.objects) do
      at_its_time(build .. "/" .. object, function() must(("cd %s && ninja -t commands -s %s | sh"):format(quoted(build), object)) end)
    end
    core.write_file(path, text)
  end)
  must(("cd %s && rm -f moonrank moonrank_tests runtime/libmr_runtime.a"):format(quoted(build)))
  return make(each)
end

local function unmake(each)
  for _, object in ipairs(each.objects or {}) do os.remove(build .. "/" .. object) end
end

local function configure()
  must(("cd %s && cmake -B build/cpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DMR_CUDA=OFF"):format(quoted(args.copy)))
end

-- The file's path in the copy, and its text with and without the change.
local function change_of(each)
  local path = args.copy .. "/" .. each.file
  local text = read(path)
  local changed = text
  for i = 1, #each.change, 2 do
    local old, new = each.change[i], each.change[i + 1]
    local first, last = changed:find(old, 1, true)
    if not first then error(("%s does not stand in %s"):format(old, path), 0) end
    if changed:find(old, last + 1, true) then error(("%s stands in %s more than once"):format(old, path), 0) end
    changed = changed:sub(1, first - 1) .. new .. changed:sub(last + 1)
  end
  return path, text, changed
end

-- Raises where something fails without any change: it would notice everything.
local checked = {}
local function check_finders(each)
  local program
  for _, name in ipairs(finders_of(each)) do
    local key = name .. (compiled(each) and " of what is built" or "")
    if not checked[key] then
      program = program or assert(make(each), "the tree does not build without a change")
      local well, _, said = passes(name, program, 1)
      if not well then error(("%s fails without a change\n%s"):format(name, said:sub(-2000)), 0) end
      checked[key] = true
    end
  end
end

-- Who notices: the first one, or, of repaired defects, all: tools, and tests.
local function noticed(each, program)
  local tools, tests = {}, {}
  for _, name in ipairs(finders_of(each)) do
    local well, seconds, _, ended = passes(name, program)
    local told = name:gsub("^calls ", "random calls: "):gsub("^case ", "test: "):gsub("^fuzz ", "fuzzed inputs: ")
    local into = is_tool(name) and tools or tests
    if not well then into[#into + 1] = ("%s (%.0f s%s)"):format(told, seconds, ended) end
    if not well and args.list ~= "repairs" then break end
  end
  return tools, tests
end

local rows, survived = {}, 0

local function told(names, otherwise) return #names > 0 and table.concat(names, "; ") or otherwise end

-- A repaired defect that no tool finds needs a reason, one that no test finds a test.
local function row_of(each, tools, tests)
  if args.list ~= "repairs" then
    return { each.file, each.change[1], each.change[2], told(tests, told(tools, "NOT NOTICED")) }
  end
  local by = args.tools and table.concat(each.by, "; "):gsub("case ", "test: ") or "NOT NOTICED"
  return { each.defect, told(tools, each.why and "none: " .. each.why or "NOT NOTICED"), told(tests, by) }
end

-- The row of a change, which is built and undone.
local function tried(each)
  if args.tools and #each.tools == 0 then return row_of(each, {}, {}) end
  check_finders(each)
  local path, text, changed = change_of(each)
  local program
  if each.objects then
    program = make_some(each, path, text, changed)
  else
    core.write_file(path, changed)
    program = make(each)
  end
  local tools, tests = {}, { "does not build" }
  if program then tools, tests = noticed(each, program) end
  core.write_file(path, text)
  unmake(each)
  return row_of(each, tools, tests)
end

local function try(each)
  local row = tried(each)
  rows[#rows + 1] = row
  survived = survived + (table.concat(row, " "):find("NOT NOTICED", 1, true) and 1 or 0)
  print(("%3d  %-50s %s"):format(#rows, row[1], table.concat(row, "  ", args.list == "repairs" and 2 or 4)))
  io.stdout:flush()
end

local changes, builds = {}, false
for _, each in ipairs(dofile(here .. args.list .. ".lua")) do
  if args.only == "" or (each.file .. " " .. (each.defect or "")):find(args.only, 1, true) then
    changes[#changes + 1], builds = each, builds or compiled(each)
  end
end
if #changes == 0 then error(("--only: no change of --list %s has '%s'"):format(args.list, args.only), 0) end
make_copy()
for _, each in ipairs(changes) do
  change_of(each)  -- before the first one: raises where a text has changed
  builds = builds or needs_cases(each)
end
if builds then configure() end
for _, each in ipairs(changes) do try(each) end

local function cell(text) return "`" .. text:gsub("\n%s*", " "):gsub("|", "\\|") .. "`" end

local columns = args.list == "repairs" and { "defect", "found by tools", "held by tests" }
  or { "file", "stands there", "put instead", "noticed by" }
print(mr.table{ columns = columns, rows = rows })
print(("%d changes, %d not noticed"):format(#rows, survived))
if args.write ~= "" then
  local file <close> = assert(io.open(args.write, "w"))
  file:write("| ", table.concat(columns, " | "), " |\n", ("|---"):rep(#columns), "|\n")
  for _, row in ipairs(rows) do
    if #row == 4 then row[2], row[3] = cell(row[2]), cell(row[3]) end
    file:write("| ", table.concat(row, " | "), " |\n")
  end
end
if survived > 0 then os.exit(1) end
