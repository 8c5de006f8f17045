-- Tests the pages of `moonrank serve` and which requests it answers, without a socket.
local answer = require "moonrank.serve.answer"
local mr = require "moonrank"
local request = require "moonrank.serve.request"
local says = require "tests.support.says"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

local open, bad = { port = 8765, token = false }, '<script>alert("x")</script>'

local function ask(path, target, guard, more)
  local asked = { method = "GET", target = target, host = "localhost:8765", cookie = "" }
  for name, value in pairs(more or {}) do asked[name] = value end
  return answer.of(path, guard or open, asked)
end

-- Makes a store with a study of 12 trials, one of which fails, and with texts that look like HTML.
local function in_store(body)
  local folder = sweeps.new_folder()
  local path = folder .. "/r.db"
  mr.sweep{ name = "a " .. bad, store = path, workers = 0, progress = false, metric = "ndcg", direction = "maximize",
    space = { loss = mr.choice{ "ap", bad }, lr = mr.choice{ 0.1, 0.01, 0.001 }, fold = mr.range(1, 2) },
    run = function(trial)
      for step = 1, 3 do trial:report(step, { ndcg = trial.lr * step }) end
      if trial.number == 5 then error("no luck with " .. bad) end
      return { ndcg = trial.lr * trial.fold, [bad] = 0.25 }
    end }
  body(path, folder)
end

local function target(path, ...)
  local of = { ... }
  return request.target(path, of)
end
local study = { "name", "a " .. bad }

describe("moonrank serve's pages", function()
  it("show studies, trials, comparisons and a trial, with every text of the store escaped", function()
    in_store(function(path)
      local shows = {
        [target("/")] = { "11 done", "1 failed", "0.2" },
        [target("/study", study)] = { "<svg", "12 trials", "choice(0.1, 0.01, 0.001)", 'name="trial" value="12"',
          "Compare" },
        [target("/trial", { "study", study[2] }, { "number", 5 })] = { "failed", "no luck with", "seed", "<svg" },
        [target("/compare", { "study", study[2] }, { "trial", 1 }, { "trial", 2 })] = { "trial 1", "trial 2",
          'class="differs"' },
      }
      for where, words in pairs(shows) do
        local status, headers, body = ask(path, where)
        test.equal(status, 200)
        says(headers, "default-src 'none'", "text/html", "nosniff", "no-referrer", "no-store")
        says(body, "&lt;script&gt;alert(&quot;x&quot;)", table.unpack(words))
        local scripts = 0
        for attributes in body:gmatch "<script([^>]*)>" do
          scripts = scripts + 1
          test.equal(attributes, ' src="/app.js" defer')
        end
        test.equal(scripts, 1)
        test.check(not body:find " style=" and not body:find " on%a+=" and not body:find "<style")
      end
    end)
  end)

  it("filter, sort and divide trials by the query", function()
    in_store(function(path)
      local function rows(...)
        local _, _, body = ask(path, target("/study", study, ...))
        local found = {}
        for number in body:gmatch 'name="trial" value="(%d+)"' do found[#found + 1] = tonumber(number) end
        return found, body
      end
      test.equal(#rows({ "q", "lr<0.05" }), 8)
      test.equal(#rows({ "q", "lr=0.1 fold=2" }), 2)
      test.equal(rows({ "q", "failed" }), { 5 })
      test.equal(#rows({ "q", "loss!=ap, ndcg>=0" }), #rows({ "q", "loss!=ap done" }))
      says(select(2, rows({ "q", "ndgc>0" })), "ndgc", "is ignored")
      local up, down = rows({ "sort", "value" }), rows({ "sort", "value" }, { "down", "1" })
      test.equal({ down[#down], up[#up] }, { 5, 5 })
      test.check(up[1] == rows({ "q", "lr=0.001 fold=1" })[1] and down[1] == rows({ "q", "lr=0.1 fold=2" })[1])
      test.equal(#rows({ "sort", "no such" }, { "page", "99999999999999999999" }), 12)
      test.equal(#rows({ "page", "7" }), 0)
    end)
  end)

  it("show the curve of a trial while it runs", function()
    local folder = sweeps.new_folder()
    local path, seen = folder .. "/r.db", nil
    mr.sweep{ name = "s", store = path, workers = 0, progress = false, space = { x = mr.range(1, 1) },
      run = function(trial)
        trial:report(1, { error = 0.75 })
        sweeps.wait(1.1)
        trial:report(2, { error = 0.5 })
        seen = select(3, ask(path, target("/trial", { "study", "s" }, { "number", 1 })))
        return 0.25
      end }
    says(seen, "running", "0.75", "0.5", "2 steps", "data-live")
    test.equal(mr.results(path):reports(1).error, { steps = { 1, 2 }, values = { 0.75, 0.5 } })
  end)

  it("say what is wrong with an address or a store, and never fail", function()
    in_store(function(path, folder)
      test.equal({ (ask(path, "/nothing")), (ask(path, "/../../etc/passwd")), (ask(path, "/%2e%2e/etc/passwd")),
        (ask(path, "/trial?study=x&number=1")), (ask(path, "/study")) }, { 404, 404, 404, 404, 404 })
      for _, strange in ipairs{ "/study?name=%00%ff", "/trial?study=&number=1e9", "/compare?study=a&trial=%",
        "/?%=&&=" } do
        test.check(ask(path, strange) < 500)
      end
      test.equal({ (ask(path, "/app.js")), (ask(path, "/app.css")) }, { 200, 200 })
      for name, text in pairs{ empty = "", text = "no database", short = sweeps.read(path):sub(1, 5000) } do
        sweeps.write(folder .. "/" .. name, text)
        local status, _, body = ask(folder .. "/" .. name, "/")
        test.equal(status, 503)
        says(body, "<html", name)
      end
      local status, _, body = ask(folder .. "/gone", "/")
      test.equal(status, 503)
      says(body, "gone", "data-live")
    end)
  end)

  it("follow every change of the store, and say when there was none", function()
    in_store(function(path)
      local memory = answer.memory(path)
      local function page(...)
        local asked = { method = "GET", target = target("/study", study, ...), host = "localhost:8765", cookie = "" }
        local status, _, body = answer.of(path, open, asked, memory)
        return body, status
      end
      local function change(sql) require("moonrank.core").open_database(path, "write"):run(sql, {}, 0) end
      -- the store changed within the last two seconds, so the page does not have its state, which browsers send to ask
      -- for changes
      test.check(not page():find "data%-state")
      sweeps.wait(2.1)
      local state = page():match 'data%-state="(%w+)"'
      test.equal({ page{ "seen", state } }, { "", 204 })
      says(page{ "seen", "0" }, "12 trials")
      change "UPDATE trials SET value = 77.25 WHERE number = 3"
      collectgarbage()
      says(page{ "seen", state }, "77.25", "12 trials")
      -- the row is damaged: a page that does not check it cannot be made
      change "UPDATE trials SET value = 'damaged' WHERE number = 3"
      collectgarbage()
      says(page{ "seen", state }, "11 trials")
    end)
  end)

  it("leave the store as it is, byte for byte", function()
    in_store(function(path, folder)
      local before = sweeps.read(path)
      for _ = 1, 3 do
        ask(path, target("/study", study))
        ask(path, "/")
      end
      test.check(sweeps.read(path) == before)
      test.equal(require("moonrank.core").list_folder(folder), { "r.db" })
    end)
  end)
end)

describe("moonrank serve answers", function()
  it("GET and HEAD only, from pages of this machine", function()
    in_store(function(path)
      local function status(more) return (ask(path, "/", open, more)) end
      for _, method in ipairs{ "POST", "PUT", "DELETE", "OPTIONS", "get" } do
        test.equal(status{ method = method }, 405)
      end
      says(select(2, ask(path, "/", open, { method = "POST" })), "Allow: GET")
      for _, host in ipairs{ "localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST:8765" } do
        test.equal(status{ host = host }, 200)
      end
      for _, host in ipairs{ "localhost", "localhost:1", "evil.example:8765", "127.0.0.1.evil:8765", "", "[::1]",
        "localhost:8765.evil", "10.0.0.1:8765", "[::1]evil:8765" } do
        test.equal(status{ host = host }, 421)
      end
    end)
  end)

  it("other machines only with the token, which becomes a cookie", function()
    in_store(function(path)
      local guard = { port = 8765, token = request.token() }
      test.check(#guard.token == 32 and guard.token ~= request.token())
      local function status(where, cookie)
        return (ask(path, where, guard, { host = "far:8765", cookie = cookie or "" }))
      end
      test.equal(status "/", 403)
      test.equal(status "/app.js", 403)
      test.equal(status("/?token=" .. ("0"):rep(32)), 403)
      test.equal(status("/", "moonrank_8765=" .. ("0"):rep(32)), 403)
      local code, headers, body = ask(path, "/?token=" .. guard.token, guard)
      test.equal({ code, body }, { 303, "" })
      says(headers, "HttpOnly", "SameSite=Strict", "Location: /\r\n")
      local cookie = headers:match "Set%-Cookie: ([^;]*)"
      test.equal(status("/", "other=1; " .. cookie), 200)
      test.equal(status("/study?name=none", cookie), 404)
    end)
  end)
end)
