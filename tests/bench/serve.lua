-- Times how long `moonrank serve` takes to make its pages for stores with thousands of trials, each with 50 reports.
-- The network is not included. Measures wall time, or CPU time with MOONRANK_CLOCK=cpu. The row "changed" reads the
-- trials again, as happens while a sweep runs. The row "poll" is the request that an open page sends every two seconds.
-- Usage: moonrank tests/bench/serve.lua [--trials 2000,10000] [--repeats 5] [--csv FILE]
local answer = require "moonrank.serve.answer"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  trials = { default = { 2000, 10000 }, help = "sizes of stores; a store of 10000 trials is made in half a minute" },
  repeats = { default = 5, help = "each page is made so often; the median counts" },
}

local pages = { { "studies", "/" }, { "study", "/study?name=study" }, { "filter", "/study?name=study&q=loss%3Dap" },
  { "sorted", "/study?name=study&sort=lr&page=9" }, { "trial", "/trial?study=study&number=7" },
  { "comparison", "/compare?study=study&trial=1&trial=2&trial=9" } }

local function page(path, target, memory)
  local asked = { method = "GET", target = target, host = "localhost:1", cookie = "" }
  local status, _, body = answer.of(path, { port = 1, token = false }, asked, memory)
  assert(status == 200 or status == 204, body)
  return body, status
end

local rows, add = bench.collect()
for _, trials in ipairs(args.trials) do
  local path = os.tmpname()
  os.remove(path)
  local command = "'%s' '%s../browser/study.lua' '%s' %d >/dev/null"
  local made = os.execute(command:format(bench.program, bench.folder, path, trials))
  assert(made, "the store was not made")
  os.execute "sleep 2.1"  -- answers are cached only for a store that was unchanged for two seconds
  local function measure(what, f) add(("%d trials: %s"):format(trials, what), "moonrank", 1,
    bench.times_of(f, args.repeats)) end
  measure("check, when the server starts", function() answer.memory(path) end)
  local memory = answer.memory(path)
  for _, each in ipairs(pages) do measure(each[1], function() page(path, each[2], memory) end) end
  measure("study, changed", function()
    memory.trials = {}
    page(path, pages[2][2], memory)
  end)
  local state = page(path, pages[2][2], memory):match 'data%-state="(%w+)"'
  measure("poll", function()
    assert(select(2, page(path, pages[2][2] .. "&seen=" .. state, memory)) == 204)
  end)
  os.remove(path)
end
bench.finish("Pages of moonrank serve.", rows, args.csv)
