-- Puts in changes of one line, one at a time (list.lua), and says which of them the specs do not notice. The working tree is not touched: a copy
-- is changed. Changes of C++ are built, in the build folder of the copy; the first build takes as long as any.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match("^(.*/)") or "./"
local list = dofile(here .. "list.lua")

local args = mr.args{
  lua = { default = true, help = "changes of the library" },
  cpp = { default = false, help = "changes of the core, each of which is built" },
  copy = { default = "/tmp/moonrank-mutants", help = "folder of the copy, which is made anew" },
  only = { default = "", help = "changes of files whose path has this text" },
  seconds = { default = 120, least = 1, help = "after which a spec counts as having noticed" },
}

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a shell command; whether it succeeded, and what it printed.
local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo status $?"))
  local text = pipe:read "a"
  pipe:close()
  return text:match "status (%d+)%s*$" == "0", text
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local root = select(2, run("git -C " .. quoted(here) .. " rev-parse --show-toplevel")):match "[^\n]+"
local own = select(2, run "readlink /proc/$PPID/exe"):match "[^\n]+"  -- this program, which changes of the library are tried with
local built_one = ("%s/build/mutants/moonrank"):format(args.copy)

local function make_copy()
  assert(run(("rm -rf %s && mkdir -p %s && git -C %s ls-files -z | (cd %s && xargs -0 cp --parents -t %s)"):format(quoted(args.copy),
    quoted(args.copy), quoted(root), quoted(root), quoted(args.copy))))
end

-- The file's path in the copy, and its text with and without the change.
local function change_of(each, before)
  local path = args.copy .. "/" .. before .. each[1]
  local text = read(path)
  local first, last = text:find(each[2], 1, true)
  if not first then return nil, ("%s does not stand in %s"):format(each[2], path) end
  if text:find(each[2], last + 1, true) then return nil, ("%s stands in %s more than once"):format(each[2], path) end
  return path, text, text:sub(1, first - 1) .. each[3] .. text:sub(last + 1)
end

-- Whether a spec passes in the copy.
local function passes(name, program)
  local spec = ("tests/stdlib/moonrank/%s_spec.lua"):format(name)
  return run(("cd %s && test -e %s && MOONRANK_STDLIB=%s timeout %d %s test %s"):format(quoted(args.copy), spec,
    quoted(args.copy .. "/stdlib"), args.seconds, quoted(program), spec))
end

-- Raises where a spec fails without any change: it would notice everything.
local function check_specs(changes, program)
  local checked = {}
  for _, each in ipairs(changes) do
    for name in each[4]:gmatch "%S+" do
      if not checked[name] and not passes(name, program) then error(name .. "_spec.lua fails without a change", 0) end
      checked[name] = true
    end
  end
end

-- The first spec that notices, or nil.
local function noticed(each, program)
  for name in each[4]:gmatch "%S+" do
    if not passes(name, program) then return name end
  end
end

local rows, survived, count = {}, 0, 0

local function tried(each, before, build)
  local path, text, changed = change_of(each, before)
  if not path then error(text, 0) end
  core.write_file(path, changed)
  local by, built = nil, true
  if build then built = run(("cmake --build %s/build/mutants --target moonrank -j2"):format(quoted(args.copy))) end
  if built then by = noticed(each, build and built_one or own) end
  core.write_file(path, text)
  count = count + 1
  survived = survived + ((by or not built) and 0 or 1)
  rows[#rows + 1] = { each[1], each[2], each[3], by and "noticed by " .. by or built and "NOT NOTICED" or "does not build" }
  print(("%3d  %-40s %s"):format(count, each[1], rows[#rows][4]))
  io.stdout:flush()
end

local function all(changes, before, build)
  check_specs(changes, build and built_one or own)
  for _, each in ipairs(changes) do
    if args.only == "" or each[1]:find(args.only, 1, true) then tried(each, before, build) end
  end
end

make_copy()
if args.lua then all(list.lua, "stdlib/moonrank/", false) end
if args.cpp then
  assert(run(("cd %s && cmake -B build/mutants -G Ninja -DCMAKE_BUILD_TYPE=Release -DMR_CUDA=OFF"):format(quoted(args.copy))))
  assert(run(("cmake --build %s/build/mutants --target moonrank -j2"):format(quoted(args.copy))))
  all(list.cpp, "", true)
end
print(mr.table{ columns = { "file", "stands there", "put instead", "result" }, rows = rows })
print(("%d changes, %d not noticed"):format(count, survived))
if survived > 0 then os.exit(1) end
