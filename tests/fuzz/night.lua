-- Every parser under its fuzzer for some time, one after the other, going on from the inputs that earlier nights found. Ends with 1 where something
-- was found: the input is in the folder `found`, and `moonrank_fuzz FILE` runs it again.
local mr = require "moonrank"
local fuzzer = dofile((arg[0]:match "^(.*/)" or "./") .. "fuzzer.lua")
local quoted, run = fuzzer.quoted, fuzzer.run

local args = mr.args{
  program = { default = fuzzer.here .. "../../build/fuzz/moonrank_fuzz", help = "the fuzzers" },
  seconds = { default = 600, least = 1, help = "for each parser" },
  only = { type = "list", help = "names of parsers" },
  inputs = { path = "new folder", default = "build/fuzz/inputs", help = "folder that keeps what was found to reach something new" },
  found = { path = "new folder", default = "build/fuzz/found", help = "folder of inputs that end the program or contradict it" },
  longest = { default = 4096, least = 1, help = "bytes of an input" },
  slow = { default = 10, least = 1, help = "seconds after which an input counts as found" },
  memory = { default = 1500, least = 500, help = "MiB that a parser may take" },
  corpus = { path = "new folder", default = "",
    help = "a folder that gets the fewest inputs that reach more than the seeds, a file for each parser" },
}

-- Allocations of Lua that outlive an input look like leaks.
local common = ("-max_len=%d -timeout=%d -rss_limit_mb=%d -detect_leaks=0"):format(args.longest, args.slow, args.memory)

local function folder_of(place, target)
  local folder = place .. "/" .. target
  assert(run("mkdir -p " .. quoted(folder)))
  return folder
end

-- Fewest inputs, of these and of the corpus as it is, that reach what the seeds do not.
local function keep(target, inputs)
  local merged = run "mktemp -d":match "%S+"
  local words = common .. " -set_cover_merge=1 -use_counters=0"
  local said, good = fuzzer.fuzz{ program = args.program, target = target, folders = { merged, inputs }, seeds = merged, corpus = inputs,
    words = words }
  if not good then error(said, 0) end
  assert(run(("rm -f %s/seed_*"):format(merged)))
  local count = fuzzer.pack(merged, args.corpus .. "/" .. target)
  run("rm -rf " .. merged)
  return count
end

local dictionary = fuzzer.here .. "dictionaries/"

local function explore(target)
  local inputs, found = folder_of(args.inputs, target), folder_of(args.found, target)
  local words = dictionary .. target .. ".dict"
  words = select(2, run("test -e " .. quoted(words))) and "-dict=" .. quoted(words) or ""
  local said, good, seconds = fuzzer.fuzz{ program = args.program, target = target, folders = { inputs }, seeds = inputs,
    words = ("%s %s -max_total_time=%d -print_final_stats=1 -artifact_prefix=%s/"):format(common, words, args.seconds, quoted(found)) }
  if not good then print(said) end
  local count = math.tointeger(tonumber(said:match "number_of_executed_units: (%d+)")) or 0
  local rate = count / seconds
  local edges = math.tointeger(tonumber(said:match ".*cov: (%d+)")) or 0
  local row = { target, count, rate, 1e8 / rate / 3600, edges, (fuzzer.size(inputs)), (fuzzer.size(found)) }
  if args.corpus ~= "" then row[#row + 1] = keep(target, inputs) end
  return row, good
end

local targets, rows, all_good = fuzzer.targets(args.only), {}, true
fuzzer.need(args.program)
for _, target in ipairs(targets) do
  local row, good = explore(target)
  rows[#rows + 1], all_good = row, all_good and good
  print(("%s: %d inputs%s"):format(target, row[2], good and "" or ", FOUND"))
  io.flush()
end
local columns = { "parser", "inputs", "in a second", "hours for 10^8", "edges", "kept", "found",
  args.corpus ~= "" and "in the corpus" or nil }
print(mr.table{ columns = columns, formats = { ["in a second"] = "%.0f", ["hours for 10^8"] = "%.1f" }, rows = rows }:to_markdown())
if not all_good then os.exit(1) end
