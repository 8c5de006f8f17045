-- Counts the instructions of hot kernels on fixed inputs (tests/bench/instructions.cpp) by callgrind. The counts are
-- equal in every run, so they show a small regression that a clock could not tell from noise. They are compared with
-- those in instructions.txt, which `--update` rewrites. The counts hold for one compiler and kind of build. With
-- another build, or without valgrind or AVX2, the script prints SKIPPED.
-- Usage: moonrank tests/bench/instructions.lua [--update] [--only NAME]
local mr = require "moonrank"
local core = require "moonrank.core"

local kernels = { "smooth_rank_direct", "smooth_ap_step_direct", "smooth_ap_step_boxes", "exact_metrics",
  "characteristic", "adam_step" }
local args = mr.args{
  update = { default = false, help = "write the counts down instead of comparing" },
  only = { default = "", help = "one kernel by name: " .. table.concat(kernels, ", ") },
  program = { default = "build/release/moonrank_instructions", help = "the program that is counted" },
  tolerance = { default = 0.1, help = "more than this share above the written count is a failure" },
}
if not core.file_exists(args.program) then
  error(("--program: there is no %s; the build makes it"):format(args.program), 0)
end
local baseline = (arg[0]:match("^(.*/)") or "./") .. "instructions.txt"

-- Returns the output of a shell command, and true if it succeeded.
local function output_of(command)
  local pipe = assert(io.popen("MOONRANK_SIMD=avx2 " .. command .. " 2>&1"))
  local text = pipe:read("a")
  return text, pipe:close()
end

local function counted(name)
  local text, ok = output_of(("valgrind --tool=callgrind --callgrind-out-file=/dev/null "
    .. "--toggle-collect='counted*' '%s' %s"):format(args.program, name))
  local count = text:match("Collected : (%d+)")
  if not ok or not count then error(("%s: valgrind says: %s"):format(name, text:sub(-400)), 0) end
  return tonumber(count)
end

-- Reads instructions.txt: returns the build for which its counts hold, and the counts by the kernel's name.
local function written()
  local file = assert(io.open(baseline))
  local build, counts = nil, {}
  for line in file:lines() do
    build = build or line:match("^# Build: (.*)$")
    local name, count = line:match("^(%S+) +(%d+)$")
    if name then counts[name] = tonumber(count) end
  end
  file:close()
  return build, counts
end

local function write(build, rows)
  local file = assert(io.open(baseline, "w"))
  file:write("# Instructions per call, by tests/bench/instructions.lua --update\n# Build: ", build, "\n")
  for _, row in ipairs(rows) do file:write(("%-24s %d\n"):format(row[1], row[2])) end
  file:close()
end

-- Returns the reason why this build's instructions cannot be counted or compared, or nil.
local function obstacle(build, ok, known_build)
  if not ok then return "the AVX2 forms do not run here: " .. build end
  if select(2, output_of("valgrind --version")) ~= true then return "valgrind is not installed" end
  if build ~= known_build and not args.update then
    return ("the counts are those of %s; this is %s"):format(known_build, build)
  end
end

local build, ok = output_of(("'%s' --build"):format(args.program))
build = build:gsub("%s+$", "")
local known_build, known = written()
local why_not = obstacle(build, ok, known_build)
if why_not then
  print("SKIPPED: " .. why_not)
  return
end
local rows, worse = {}, {}
for _, name in ipairs(kernels) do
  if args.only == "" or args.only == name then
    local count = counted(name)
    local ratio = known[name] and count / known[name]
    rows[#rows + 1] = { name, count, known[name], ratio }
    if not ratio then
      worse[#worse + 1] = name .. ": no count is written down"
    elseif ratio > 1 + args.tolerance then
      worse[#worse + 1] = ("%s: %.2f times"):format(name, ratio)
    end
  end
end
print(mr.table{ columns = { "kernel", "instructions", "written down", "ratio" }, rows = rows,
  formats = { ratio = "%.3f" } })
if args.update then
  write(build, rows)
elseif #worse > 0 then
  error("more instructions than written down: " .. table.concat(worse, "; "), 0)
end
