-- The command `moonrank serve`: shows a store of sweeps in a browser. It reads the store and never writes.
local answer = require "moonrank.serve.answer"
local check = require "moonrank.check"
local core = require "moonrank.core"
local exit = require("moonrank.system.exit").exit
local request = require "moonrank.serve.request"
local words_of = require "moonrank.command.words"

local M = {}

local about = [[
usage: moonrank serve STORE [options]

Shows the studies of a store as pages in a browser: their trials, with filter, sorting and comparison, the curves of
training, and a page for each trial. Pages follow a sweep that runs. The store is only read.

Without --host, only this machine reaches the pages, with all its users. With --host, other machines reach them with a
token, which is a part of the printed address. The connection is not encrypted: use it in a network that you trust, or
through ssh: ssh -L 8765:localhost:8765 MACHINE.]]

local usual_port <const> = 8765
local declarations = {
  port = { default = usual_port, least = 0, most = 65535, help = "port to listen on; 0 takes a free one" },
  host = { default = "127.0.0.1",
    help = "IPv4 or IPv6 address to listen on, or localhost; 0.0.0.0: all addresses of this machine" },
}

-- Returns a server that listens on a port of this host. If that fails, the error says which option to change.
local function listen(host, port)
  local opened, server = pcall(core.http_server, host, port)
  if opened then return server end
  local why = check.reason(server)
  if why:find "numeric" then words_of.refuse("--host: %s. Pass localhost, or an address such as 0.0.0.0", why) end
  exit(1, ("serve: %s. Pass another --port, or --port 0 for a free one"):format(why))
end

---Answers requests for pages about a store, until `is_over` returns true. Ctrl-C raises the error "interrupted".
---@param server table             from core.http_server
---@param path string              of the store
---@param guard mr.serve.Guard     port of the server, and the token that requests need, if any
---@param memory? mr.serve.Memory  what earlier requests read from the store (default: nothing)
---@param is_over? fun(): boolean  called before each request, and every 0.1 s without requests
function M.loop(server, path, guard, memory, is_over)
  memory = memory or answer.memory()
  while not (is_over and is_over()) do
    local id, method, target, host, cookie = server:wait(is_over and 0.1 or 60)
    if id > 0 then
      local status, headers, body = answer.of(path, guard,
        { method = method, target = target, host = host, cookie = cookie }, memory)
      server:answer(id, status, headers, body)
    end
  end
end

---Runs `moonrank serve` with the words of its command line: shows a store in a browser until Ctrl-C.
function M.run(words)
  for _, word in ipairs(words) do
    if word == "--help" or word == "-h" then return print(words_of.help(about, declarations)) end
  end
  local names, args = words_of.read(words, declarations)
  if #names ~= 1 then
    words_of.refuse("expected the name of one store, got %s. Write: moonrank serve results.db",
      #names == 0 and "none" or ("%d names"):format(#names))
  end
  local path, host = names[1], args.host == "localhost" and "127.0.0.1" or args.host
  if not core.file_exists(path) then
    local shown = core.safe_text(path)
    exit(1, ("serve: there is no store '%s'. Pass the path of a sweep's store"):format(shown))
  end
  local memory = answer.memory(path)
  local server = listen(host, args.port)
  local guard = { port = server:port(), token = not request.is_loopback(host) and request.token() }
  local shown = host:find ":" and "[" .. host .. "]" or host
  if request.is_loopback(host) then shown = host == "127.0.0.1" and "localhost" or shown end
  print(("%s is shown at http://%s:%d/%s (Ctrl-C ends)"):format(core.safe_text(path), shown, guard.port,
    guard.token and "?token=" .. guard.token or ""))
  io.stdout:flush()
  local ended, why = pcall(M.loop, server, path, guard, memory)
  server:close()
  if not ended and why ~= "interrupted" then error(why, 0) end
end

return M
