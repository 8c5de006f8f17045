-- Times the start and end of the program: alone, and with what training needs; beside others that do as little.
-- Wall time, a shell's included; with MOONRANK_CLOCK=cpu the processor time of the program and what it starts, to 1 ms.
-- Usage: moonrank tests/bench/start.lua [--repeats 50] [--csv FILE]
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  repeats = { default = 50, help = "each is started so often, for at most 20 s; the median counts" },
}

-- Seconds of processor time of a command, which bash measures.
local function processor_time(command)
  local pipe = assert(io.popen(("TIMEFORMAT='%%3U %%3S' bash -c \"time %s\" 2>&1"):format(command:gsub('"', '\\"'))))
  local user, system = pipe:read("a"):match "(%d+[.,]%d+) (%d+[.,]%d+)%s*$"
  pipe:close()
  assert(user, "processor time is measured by bash, which failed")
  return tonumber((user:gsub(",", "."))) + tonumber((system:gsub(",", ".")))
end

-- Seconds of a command, again and again; none where it fails.
local function times_of(command)
  command = command .. " >/dev/null 2>&1"
  local times, total = {}, 0
  if not os.execute(command) then return times end
  for i = 1, args.repeats do
    local began = core.clock()
    if bench.clock == core.clock then
      os.execute("exec " .. command)
      times[i] = core.clock() - began
    else
      times[i] = processor_time(command)
    end
    total = total + times[i]
    if total > 20 then break end
  end
  return times
end

local rows, add = bench.collect()
local function measure(workload, program, command)
  local left_out = program ~= "moonrank" and os.getenv "MOONRANK_PEERS" == "none"
  add(workload, program, 1, left_out and {} or times_of(command))
end
local moonrank = ("'%s' -e "):format(arg[-1])
-- itself: what is called python3 may be a script that finds it
local python = ("'%s' -c "):format(bench.peer_lines("program.py")[1] or "python3")
measure("start", "moonrank", moonrank .. "''")
measure("start", "Lua", "lua5.4 -e ''")
measure("start", "Python", python .. "''")
measure("start, with what training needs", "moonrank",
  moonrank .. "'local _ = {mr.data, mr.losses, mr.models, mr.optim, mr.fit}'")
measure("start, with what training needs", "PyTorch", python .. "'import torch'")
bench.finish("Start and end of a program.", rows, args.csv)
