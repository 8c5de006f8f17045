-- Tests the command `moonrank serve`: its HTTP server over a socket.
local core = require "moonrank.core"
local mr = require "moonrank"
local program = dofile "tests/support/program.lua"
local says = require "tests.support.says"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

local function sweep(path, trials)
  mr.sweep{ name = "s", store = path, workers = 0, progress = false, space = { x = mr.range(1, 9) }, trials = trials,
    force = true, run = function(trial) return trial.x end }
end

-- Calls `body` with the port of a server of a store with three trials, a function that asks it through curl, and the
-- folder. The server must end with status 130 within two seconds of Ctrl-C, which is one second on an idle machine.
local function serving(body, options)
  local folder = sweeps.new_folder()
  sweep(folder .. "/r.db", 3)
  local id = sweeps.start(folder, "serve", "r.db --port 0 " .. (options or ""))
  local port
  for _ = 1, 1000 do
    port = sweeps.read(folder .. "/out"):match ":(%d+)/"
    if port then break end
    sweeps.wait(0.01)
  end
  test.check(port, sweeps.read(folder .. "/err"))
  local function ask(where, more)
    return select(2, program.run(("curl -s -i --max-time 10 --path-as-is %s 'http://127.0.0.1:%s%s'"):format(
      more or "", port, where)))
  end
  local ok, why = xpcall(body, debug.traceback, port, ask, folder)
  local began = core.clock()
  sweeps.signal(id, "INT")
  local status = sweeps.finish(folder)
  if not ok then error(why, 0) end
  test.equal(status, 130)
  test.check(core.clock() - began < 2)
end

local function raw(port, text, seconds)
  local _, out = program.run(("timeout %s bash -c 'exec 3<>/dev/tcp/127.0.0.1/%s; %s >&3; cat <&3'"):format(
    seconds or 5, port, text))
  return out
end

describe("moonrank serve", function()
  if not program.moonrank then return it("is run", function() test.skip "MOONRANK does not name the program" end) end

  it("shows a store to curl, and new trials as they come", function()
    serving(function(port, ask, folder)
      says(ask "/", "200 OK", "3 done", "Connection: close", "Content-Security-Policy: default-src 'none'")
      says(ask "/study?name=s", "200 OK", 'value="3"')
      says(ask "/app.js", "text/javascript")
      local head = ask("/", "-I")
      says(head, "200 OK", "Content-Length: ")
      test.check(not head:find "<html")
      says(ask("/", "-X DELETE"), "405 ")
      says(ask("/", "-d a=b"), "405 ")
      says(ask("/", "-H 'Host: evil.example'"), "421 ")
      says(ask "/../../../../etc/passwd", "404 ")
      local before = sweeps.read(folder .. "/r.db")
      ask "/study?name=s"
      test.check(sweeps.read(folder .. "/r.db") == before)
      sweep(folder .. "/r.db", 5)
      says(ask "/", "5 done")
      os.remove(folder .. "/r.db")
      says(ask "/", "503 ")
      sweep(folder .. "/r.db", 2)
      says(ask "/", "2 done")
      says(sweeps.read(folder .. "/out"), "http://localhost:" .. port)
    end)
  end)

  it("refuses what is not a request, and is not held up by slow clients", function()
    serving(function(port, ask, folder)
      says(ask("/", ("-H 'X-Long: %s'"):format(("a"):rep(20000))), "431 ")
      for _, text in ipairs{ [[printf "HELLO\r\n\r\n"]], [[printf "GET / HTTP/1.1\r\n\r\n"]],
        [[printf "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n"]],
        [[printf "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]],
        [[printf "GET / HTTP/1.1\r\nHost : a\r\n\r\n"]], [[printf "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"]] } do
        says(raw(port, text), "400 ")
      end
      says(raw(port, [[printf "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"]]), "413 ")
      says(raw(port, [[head -c 3000000 /dev/zero | tr "\\0" a]]), "431 ")
      -- opens a hundred connections that send the beginning of a request and then nothing
      local stays = "bash -c 'for i in $(seq 100); do eval \"exec $((i + 10))<>/dev/tcp/127.0.0.1/%s\"; "
        .. "printf \"GET / HT\" >&$((i + 10)); done; touch %s/ready; sleep 8' >/dev/null 2>&1 &"
      os.execute(stays:format(port, folder))
      for _ = 1, 500 do
        if core.is_file(folder .. "/ready") then break end
        sweeps.wait(0.01)
      end
      says(ask "/", "200 OK")
    end)
  end)

  it("needs a token with --host", function()
    serving(function(_, ask, folder)
      local token = sweeps.read(folder .. "/out"):match "%?token=(%x+)"
      test.equal(#token, 32)
      says(ask "/", "403 ")
      local cookie = ask("/?token=" .. token):match "Set%-Cookie: ([^;]*)"
      says(ask("/", ("-H 'Cookie: %s'"):format(cookie)), "200 OK", "3 done")
    end, "--host 0.0.0.0")
  end)

  it("says what is wrong with its words, its store and its port", function()
    serving(function(port, _, folder)
      local function refused(words)
        local ok, text = program.run(("cd %s && timeout 20 %s serve %s"):format(folder, sweeps.moonrank, words))
        test.check(not ok)
        return text
      end
      says(refused "", "serve", "one store")
      says(refused "none.db", "none.db", "no store")
      says(refused "status", "status")
      says(refused("r.db --port " .. port), port, "--port 0")
      says(refused "r.db --port 70000", "70000")
      says(refused "r.db --host somewhere", "somewhere", "numeric", "localhost")
      says(refused "r.db --prot 1", "prot")
      says(refused "pid", "pid", "database")
    end)
  end)
end)
