-- How many lines of each parser its seeds and its corpus reach (parsers.lua): C++ by clang's counts, Lua by a hook, of the functions that are entered.
-- Needs the fuzzers (cmake --preset fuzz && cmake --build --preset fuzz) and llvm-profdata-14, llvm-cov-14.
local mr = require "moonrank"
local fuzzer = dofile((arg[0]:match "^(.*/)" or "./") .. "fuzzer.lua")
local quoted, run = fuzzer.quoted, fuzzer.run

local args = mr.args{
  program = { default = fuzzer.here .. "../../build/fuzz/moonrank_fuzz", help = "the fuzzers" },
  only = { type = "list", help = "names of parsers" },
  lines = { default = false, help = "print the lines that no input reaches" },
}

local tolerated = 0.95

-- Runs the inputs of a target; lines of Lua come into `lua`.
local function replay(target, folder, lua)
  local seeds, lines = folder .. "/seeds", folder .. "/" .. target .. ".lines"
  assert(run(("rm -rf %s && mkdir -p %s"):format(quoted(seeds), quoted(seeds))))
  local said, good = fuzzer.fuzz{ program = args.program, target = target, folders = { seeds }, seeds = seeds, corpus = seeds,
    words = "-runs=0 -detect_leaks=0",
    variables = ("LLVM_PROFILE_FILE=%s MOONRANK_FUZZ_LINES=%s"):format(quoted(folder .. "/" .. target .. ".profraw"), quoted(lines)) }
  if not good then error(said, 0) end
  local file <close> = io.open(lines, "r")
  for line in file and file:lines() or function() end do
    local source, number, ran, begins = line:match "^@?(.-):(%d+) ([01]) (%d+)$"
    lua[source] = lua[source] or { functions = {} }
    lua[source][tonumber(number)] = lua[source][tonumber(number)] or ran == "1"
    lua[source].functions[tonumber(number)] = tonumber(begins)
  end
end

local function left_out(name, without)
  for _, each in ipairs(without or {}) do
    if name:find(each, 1, true) then return true end
  end
  return false
end

-- What clang counted of each C++ file, by its path.
local function counted(folder)
  local said = run(("llvm-cov-14 export --format=lcov -instr-profile=%s %s 2>/dev/null"):format(quoted(folder .. "/all.profdata"),
    quoted(args.program)))
  local found = {}
  for path, text in said:gmatch "SF:([^\n]+)\n(.-)end_of_record" do found[path] = text end
  return found
end

-- Lines of a C++ file and whether each ran, but for functions that are left out.
local function lines_of(parser, file, texts)
  local starts, lines, text = {}, {}, nil
  for path, each in pairs(texts) do
    if path:sub(-#file - 1) == "/" .. file then text = each end
  end
  if not text then error(("the fuzzers do not count %s: build them again"):format(file), 0) end
  for line, name in text:gmatch "FN:(%d+),(%S+)" do starts[#starts + 1] = { tonumber(line), left_out(name, parser.without) } end
  table.sort(starts, function(a, b) return a[1] < b[1] end)
  for line, count in text:gmatch "\nDA:(%d+),(%d+)" do
    local number, skip = tonumber(line), false
    for _, start in ipairs(starts) do
      if start[1] <= number then skip = start[2] end
    end
    if not skip then lines[number] = count ~= "0" end
  end
  return lines
end

-- Lines of a Lua file and whether each ran, but for functions that are left out, by the lines where these begin.
local function lines_of_lua(parser, file, recorded)
  local texts, lines = {}, {}
  for text in io.lines(fuzzer.here .. "../../" .. file) do texts[#texts + 1] = text end
  for number, begins in pairs(recorded.functions) do
    if not left_out(texts[begins], parser.without) then lines[number] = recorded[number] end
  end
  return lines
end

-- Runs of numbers, "3-5, 9".
local function ranges(numbers)
  table.sort(numbers)
  local parts, first = {}, nil
  for i, n in ipairs(numbers) do
    first = first or n
    if numbers[i + 1] ~= n + 1 then
      parts[#parts + 1], first = first == n and tostring(n) or first .. "-" .. n, nil
    end
  end
  return table.concat(parts, ", ")
end

local function measure(parser, folder)
  assert(run(("rm -rf %s && mkdir -p %s"):format(quoted(folder), quoted(folder))))
  local lua, all, reached = {}, 0, 0
  for _, target in ipairs(parser.targets) do replay(target, folder, lua) end
  assert(run(("llvm-profdata-14 merge -o %s/all.profdata %s/*.profraw"):format(quoted(folder), quoted(folder))))
  local texts = counted(folder)
  for _, file in ipairs(parser.files) do
    local lines = lua[file] and lines_of_lua(parser, file, lua[file]) or lines_of(parser, file, texts)
    local missed = {}
    for number, ran in pairs(lines) do
      all, reached = all + 1, reached + (ran and 1 or 0)
      if not ran then missed[#missed + 1] = number end
    end
    if args.lines and #missed > 0 then print(("%s: %s"):format(file, ranges(missed))) end
  end
  return all, reached
end

local parsers = fuzzer.parsers(args.only)
fuzzer.need(args.program)
local folder = run "mktemp -d":match "%S+"
local rows, low = {}, 0
for _, parser in ipairs(parsers) do
  local all, reached = measure(parser, folder .. "/run")
  local share = all > 0 and reached / all or 0
  if share < tolerated and not parser.reason then low = low + 1 end
  rows[#rows + 1] = { table.concat(parser.targets, ", "), all, reached, 100 * share, share < tolerated and parser.reason or "" }
end
run("rm -rf " .. quoted(folder))
print(mr.table{ columns = { "parser", "lines", "reached", "%", "what is left" }, formats = { ["%"] = "%.1f" }, rows = rows }:to_markdown())
if low > 0 then
  print(("%d parsers have less than %d %% and no reason in parsers.lua"):format(low, 100 * tolerated))
  os.exit(1)
end
