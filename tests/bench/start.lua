-- Times the start and end of the program `moonrank`, alone and with the modules that training loads, beside Lua and
-- Python programs that do as little. Measures wall time, which includes that of a shell. With MOONRANK_CLOCK=cpu it
-- measures the CPU time of the program and its children, to 1 ms.
-- Usage: moonrank tests/bench/start.lua [--repeats 50] [--csv FILE]
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  repeats = { default = 50, help = "each is started so often, for at most 20 s; the median counts" },
}

-- Returns the seconds of CPU time of a shell command, measured by bash.
local function processor_time(command)
  local pipe = assert(io.popen(("TIMEFORMAT='%%3U %%3S' bash -c \"time %s\" 2>&1"):format(command:gsub('"', '\\"'))))
  local user, system = pipe:read("a"):match "(%d+[.,]%d+) (%d+[.,]%d+)%s*$"
  pipe:close()
  assert(user, "processor time is measured by bash, which failed")
  return tonumber((user:gsub(",", "."))) + tonumber((system:gsub(",", ".")))
end

-- Returns the seconds of each of several runs of a command, or an empty table if the command fails.
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
local moonrank = ("'%s' -e "):format(bench.program)
-- the path of the Python interpreter itself, because `python3` in PATH may be a wrapper script, which costs time
local python = ("'%s' -c "):format(bench.peer_lines("program.py")[1] or "python3")
measure("start", "moonrank", moonrank .. "''")
measure("start", "Lua", "lua5.4 -e ''")
local script <close> = bench.temporary()
core.write_file(script.path, "")
measure("start of an empty script", "moonrank", ("'%s' '%s'"):format(bench.program, script.path))
measure("start of an empty script", "Lua", ("lua5.4 '%s'"):format(script.path))
measure("start", "Python", python .. "''")
measure("start, with what training needs", "moonrank",
  moonrank .. "'local _ = {mr.data, mr.losses, mr.models, mr.optim, mr.fit}'")
measure("start, with what training needs", "PyTorch", python .. "'import torch'")
bench.finish("Start and end of a program.", rows, args.csv)
