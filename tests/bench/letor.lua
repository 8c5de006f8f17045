-- Times the reading of LETOR text: MSLR-WEB and MQ2008, repeated (other queries each time) to files of some size; and
-- scikit-learn's load_svmlight_file on the same files in the same run, where python3 has it. Usage: moonrank
-- tests/bench/letor.lua [--megabytes 100] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  megabytes = { default = 100, help = "size of the files" },
  repeats = { default = 5, help = "ours is measured so often; the median counts" },
  peer_repeats = { default = 3, help = "the same for scikit-learn" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
}

-- Writes the text of a compressed file again and again, every "qid:" followed by another number.
local function repeated(path, to)
  local pipe = assert(io.popen(("zcat -f '%s'"):format(path)))
  local text = pipe:read("a")
  pipe:close()
  local file, size, copy = assert(io.open(to, "w")), 0, 100
  while size < args.megabytes * 1e6 do
    local part = text:gsub(" qid:", " qid:" .. copy)
    file:write(part)
    size, copy = size + #part, copy + 1
  end
  file:close()
  return size
end

local rows, add = bench.collect()
local temporary <close> = bench.temporary()
local path = temporary.path
for _, name in ipairs{ "mslr-web-slice/train.txt.gz", "mq2008/S1.txt.gz" } do
  local found, source = pcall(require("moonrank.data.find").path, name)
  if found then
    local workload = ("%.0f MB of LETOR text, %s"):format(repeated(source, path) / 1e6, name:match("^[^/]*"))
    for _, threads in ipairs(args.threads) do
      core.threads(threads)
      add(workload, "moonrank", threads, bench.times_of(function() mr.data.letor(path) end, args.repeats))
      if threads == 1 then
        add(workload, "scikit-learn", 1, bench.peer_times("letor_peer.py", path, args.peer_repeats))
      end
    end
  else
    print(("%s is left out: %s"):format(name, source))
  end
end
bench.finish("LETOR text into lists and features.", rows, args.csv)
