-- Ctrl-C while `moonrank data get` waits for a slow server: the program must end with status 130 within a second, leave
-- no file, and stop the download. The tests use curl with a proxy that stays silent, and a fake curl that writes
-- slowly.
local sweeps = dofile "tests/support/sweeps.lua"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank then
  it("moonrank data get ends on Ctrl-C", function() test.skip "MOONRANK does not name the program" end)
  return
end

local most_seconds <const> = 1

local dribble = [[#!/bin/sh
while [ "$1" != --output ]; do shift; done
echo $$ >%s/curl.pid
while :; do printf x >>"$2"; sleep 0.05; done
]]

-- A proxy server, as Python code, that accepts requests and answers one byte at a time, for ever.
local server = [[
import socket, sys, threading, time
listening = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1] + "/port.new", "w").write(str(listening.getsockname()[1]))
import os
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
def answer(one):
    one.recv(4096)
    open(sys.argv[1] + "/asked", "w").close()
    try:
        one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            time.sleep(5)
    except OSError:
        pass
threading.Timer(120, lambda: os._exit(0)).start()
while True:
    threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()
]]

local function wait_until(what, about)
  local began = core.clock()
  while not what() do
    check(core.clock() - began < 20, about)
    sweeps.wait(0.01)
  end
  return core.clock() - began
end

local function is_there(id) return sweeps.read(("/proc/%d/stat"):format(id)):match "%) (%a)" ~= nil end

-- Starts a download, waits until `begun` is true, and sends the signal of Ctrl-C. `group` sends it to all processes of
-- the group, as a terminal does.
local function interrupted(folder, before, begun, group)
  local id = sweeps.start(folder, "data get movielens", "", ("XDG_DATA_HOME=%s/data %s setsid"):format(folder, before))
  wait_until(begun, "the download did not begin: " .. sweeps.read(folder .. "/err"))
  sweeps.wait(0.1)
  check(sweeps.read(folder .. "/status") == "", "it ended by itself: " .. sweeps.read(folder .. "/err"))
  check(sweeps.capture(("find %s/data -name '.fetch-*'"):format(folder)) ~= "", "nothing is being fetched")
  local helpers, spent = sweeps.children(id), sweeps.spent_by(id) or 0
  os.execute(("kill -INT %s%d"):format(group and "-" or "", id))
  local function ended() return sweeps.read(folder .. "/status") ~= "" end
  local answered, took = pcall(wait_until, ended, "no answer to Ctrl-C")
  if not answered then os.execute(("kill -KILL -%d"):format(id)) end
  check(answered, took)
  local status, err = sweeps.finish(folder)
  equal(status, 130, err)
  check(err:find "interrupted", err)
  check(took < most_seconds or spent < most_seconds, ("%.1f s until it ended"):format(took))
  equal(sweeps.capture(("find %s/data ! -type d -o -name '.*'"):format(folder)), "", "left behind")
  for _, each in ipairs(helpers) do wait_until(function() return not is_there(each) end, "its curl goes on") end
end

for _, group in ipairs{ false, true } do
  local who = group and "sent to the process group" or "sent to the program alone"
  it("moonrank data get ends on Ctrl-C while curl writes, if the signal is " .. who, function()
    sweeps.in_folder(function(folder)
      os.execute(("mkdir %s/bin"):format(folder))
      sweeps.write(folder .. "/bin/curl", dribble:format(folder))
      os.execute(("chmod +x %s/bin/curl"):format(folder))
      interrupted(folder, ("PATH=%s/bin:$PATH"):format(folder),
        function() return sweeps.read(folder .. "/curl.pid") ~= "" end, group)
    end)
  end)

  it("moonrank data get ends on Ctrl-C while the server is silent, if the signal is " .. who, function()
    for _, program in ipairs{ "python3", "curl" } do
      if not os.execute(("command -v %s >/dev/null"):format(program)) then
        return test.skip(program .. " is not there")
      end
    end
    sweeps.in_folder(function(folder)
      sweeps.write(folder .. "/server.py", server)
      os.execute(("cd %s && { python3 server.py . >server.log 2>&1 & echo $! >server.pid; }"):format(folder))
      wait_until(function() return sweeps.read(folder .. "/port") ~= "" end, "no server")
      local proxy = "http://127.0.0.1:" .. sweeps.read(folder .. "/port")
      local ok, why = pcall(interrupted, folder, ("https_proxy=%s no_proxy="):format(proxy), function()
        return core.file_exists(folder .. "/asked")
      end, group)
      os.execute(("kill $(cat %s/server.pid)"):format(folder))
      if not ok then error(why, 0) end
    end)
  end)
end
