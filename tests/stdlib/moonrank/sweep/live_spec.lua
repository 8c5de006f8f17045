-- Tests the progress of a sweep on a terminal of 80 columns.
local live = require "moonrank.sweep.live"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

-- Returns what a terminal of 80 columns shows after 8 s of a study.
local function shown(name, params, running)
  local written, now = {}, 0
  local queue = { planned = 100, counts = { done = 30, failed = 3, pruned = 8, killed = 1 }, trials = {},
    ended = function() return 42 end, left = function() return 754 end,
    best = { value = 0.5, number = 2, params = params } }
  local view = live.new(name, queue, { terminal = true, width = 80, clock = function() return now end,
    out = { write = function(_, ...) written[#written + 1] = table.concat({ ... }) end } })
  now = 8
  view:update(running, 8)
  return table.concat(written)
end

it("the progress of mr.sweep shows the time left for any parameters and study name", function()
  local long = { batch_size = 1024, embedding_factors = 64, learning_rate = 0.0123, loss = "lambdarank",
    weight_decay = 1e-5 }
  for _, params in ipairs{ { lr = 0.1 }, long } do
    for _, name in ipairs{ "s", ("a_long_name_"):rep(8), ("\u{fc}"):rep(90) } do
      local text = shown(name, params, { { trial = { number = 1, params = params }, spent = 1 } })
      check(text:find("42/100 trials", 1, true) and text:find("13 min left", 1, true), text)
      for line in text:gmatch "[^\n]+" do check(#line <= 79, line) end
    end
  end
  check(shown("s", { lr = 0.1 }, {}):find("best 0.5", 1, true), "a short line has both")
end)

it("the progress of mr.sweep shortens names between characters", function()
  local text = shown(("\u{fc}"):rep(90), { lr = 0.1 }, {})
  equal({ utf8.len(text:match "^[^ ]+") ~= nil, text:match "^[^ ]+":find("...", 1, true) ~= nil }, { true, true })
end)

it("the summary at the end of mr.sweep says which value of retry runs failed trials again", function()
  local function summary(trials)
    local written = {}
    local view = live.new("s", { planned = 2, counts = {}, trials = trials, best = false,
      ended = function() return 2 end }, { terminal = false, clock = function() return 0 end,
      out = { write = function(_, ...) written[#written + 1] = table.concat({ ... }) end } })
    view:finish()
    return table.concat(written)
  end
  local done = { state = "done", attempts = 1, params = { x = 1 } }
  local failed = { state = "failed", attempts = 2, params = { x = 2 }, reason = "no luck" }
  check(summary({ done, failed }):find("retry = 2", 1, true), summary({ done, failed }))
  check(not summary({ done, done }):find "retry")
end)
