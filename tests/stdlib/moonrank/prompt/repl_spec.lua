-- Tests the output and the completions of the REPL.
local files = require "tests.support.files"
local test = require "moonrank.test"
local repl = require "moonrank.prompt.repl"
local mr = require "moonrank"
local describe, it = test.describe, test.it

local completion = require "moonrank.prompt.completion"

local function complete(before)
  local start, words = completion.complete(before)
  return words, start
end

local function with_global(name, value, body)
  rawset(_G, name, value)
  local ok, message = pcall(body)
  rawset(_G, name, nil)
  if not ok then error(message, 0) end
end

describe("prompt completion", function()
  it("completes globals and keywords", function()
    local words, start = complete "x = tos"
    test.equal(words, { "tostring" })
    test.equal(start, 5)
    test.equal(complete "whi", { "while" })
  end)
  it("completes fields of modules, loaded or not", function()
    with_global("mr", mr, function()
      test.equal(complete "mr.aran", { "arange" })
      test.equal(complete "f(mr.gradch", { "gradcheck" })
      test.equal(complete "string.rev", { "reverse" })
    end)
  end)
  it("completes methods after a colon, and fields and methods after a dot", function()
    with_global("t", { x = mr.ones(2), lists = mr.lists { { 1, 0 } } }, function()
      test.equal(complete "t.x:matm", { "matmul" })
      test.equal(complete "t.x:dty", {})
      test.equal(complete "t.x.dty", { "dtype" })
      test.equal(complete "t.x:totab", { "totable" })  -- completes a method that is written in Lua
      test.equal(complete "t.lists.rel", { "relevance", "relevant", "relevant_part" })
    end)
  end)
  it("follows __index tables and never calls user functions", function()
    local called = false
    local class = { method = function() end, number = 1 }
    class.__index = class
    local trap = setmetatable({ own = 1 }, { __index = function() called = true end, __name = nil })
    with_global("t", { object = setmetatable({}, class), trap = trap }, function()
      test.equal(complete "t.object:me", { "method" })
      test.equal(complete "t.object.nu", { "number" })
      test.equal(complete "t.trap.ow", { "own" })
      test.equal(complete "t.trap.inner.x", {})
      test.check(not called)
    end)
  end)
  it("completes options of a call that are not yet given", function()
    with_global("mr", mr, function()
      test.equal(complete "mr.fit{ba", { "batch", "batch_rows" })
      test.equal(complete "mr.compare{ours = run, qr", { "qrels" })
      test.equal(complete "run = mr.fit{model = f{1, 2}, epochs = 3, ep", complete "ep")
      test.equal(complete "mr.fit{\n  pat", { "patience" })
      -- completes options of a type whose fields are written out in the annotation
      test.equal(complete "mr.optim.adam{beta", { "beta1", "beta2" })
      -- completes options that a class inherits from another class
      test.equal(complete "mr.plot.lines{vl", { "vlines" })
      test.equal(complete "mr.evaluate(scores, lists, {'ap'}, {em", { "empty" })
      test.equal(complete "mr.fit{loss = mr.losses.ap{bo", { "bound" })
      test.equal(complete "ratings:folds{ns", { "nsr" })
      -- completes options of a table inside an option table
      test.equal(complete "mr.data.interactions(path, {columns = {us", { "user" })
      test.equal(complete "mr.losses.ap{", { "bound", "kernel", "steepness" })
      test.equal(complete "mr.fit{loss = pri", { "print" })
      test.equal(complete "x = {ba", complete "ba")
    end)
  end)
  it("completes strings with names of bounds, metrics and choices", function()
    with_global("mr", mr, function()
      test.equal(complete "mr.losses.ap{bound = 'min", { "minmax" })
      test.equal(complete 'mr.losses.ap{steepness = 2, bound = "zs', { "zscore" })
      test.equal(complete 'mr.fit{metrics = {"ap", "nd', { "ndcg" })
      test.equal(complete 'mr.evaluate(scores, lists, {"r_', { "r_precision" })
      test.equal(complete 'mr.bounds.of("nrbp_', { "nrbp_loss" })
      test.equal(complete 'mr.bounds.check "exp', { "expectation", "expectation_max" })
      test.equal(complete 'mr.bounds.distribution_bound{form = "lo', { "log", "logit" })
      test.equal(complete 'mr.fit{choose_on = "', { "test", "valid" })
      test.equal(complete "x = [[min", {})
      test.equal(complete "x = 1 -- min", {})
    end)
  end)
  it("completes file paths in other strings", function()
    local folder = files.new_path()
    local make = "mkdir -p F/inner && touch F/one.csv F/.hidden \"$(printf 'F/bad\\033[1m')\""
    assert(os.execute((make:gsub("F", folder))))
    local words, start = complete("mr.data.letor('" .. folder .. "/")
    test.equal(words, { folder .. "/inner/", folder .. "/one.csv" })
    test.equal(start, #"mr.data.letor('" + 1)
    test.equal(complete("f'" .. folder .. "/on"), { folder .. "/one.csv" })
    test.equal(complete("f'" .. folder .. "/.h"), { folder .. "/.hidden" })
    test.equal(complete("f'" .. folder .. "/nowhere/x"), {})
  end)
  it("offers nothing for unknown names", function()
    test.equal(complete "nowhere.x", {})
    test.equal(complete "f().x", {})
    test.equal(complete "zzzz", {})
  end)
end)

describe("results in the prompt", function()
  local show = require "moonrank.prompt.show"
  local function numbers(n)
    local list = {}
    for i = 1, n do list[i] = i end
    return list
  end
  local function lines_of(text)
    local lines = {}
    for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    return lines
  end
  it("show tables two levels deep", function()
    test.equal(repl.text {}, "{}")
    test.equal(repl.text { 1, "two", { 3, { 4, 5 }, { b = 1 }, {} }, { a = "x" }, {}, x = 1, ["a b"] = true },
      '{1, "two", {3, {... 2 entries}, {...}, {}}, {a = "x"}, {}, ["a b"] = true, x = 1}')
    test.equal(repl.text { [10] = 1, [2.5] = 2 }, "{[2.5] = 2, [10] = 1}")
  end)
  it("say of a table that contains itself that it is a cycle, and of a shared table what it has", function()
    local loop, shared = { 1 }, { 5 }
    loop.me, loop.inner = loop, { up = loop }
    test.equal(repl.text(loop), "{1, inner = {up = {cycle}}, me = {cycle}}")
    test.equal(repl.text { a = shared, b = { shared } }, "{a = {5}, b = {{... 1 entry}}}")
  end)
  it("break long tables into lines, of which unnamed entries share one, and count what is left out", function()
    test.equal(show.text(numbers(1000), 60):match "%d+ more", "960 more")
    local lines = lines_of(show.text(numbers(30), 40))
    test.equal({ lines[1], lines[2], lines[#lines] }, { "{", "  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,", "}" })
    lines = lines_of(show.text({ alpha = numbers(20), beta = numbers(3), { 1 } }, 40))
    test.equal(lines, { "{", "  {1},", "  alpha = {1, 2, 3, 4, 5, ... 15 more},", "  beta = {1, 2, 3}", "}" })
  end)
  it("never have more than 43 lines, nor lines wider than the terminal", function()
    local wide = {}
    for i = 1, 500 do wide["name" .. i] = { numbers(500), text = ("t"):rep(500), x = mr.zeros{ 30, 30 } } end
    for _, width in ipairs{ 40, 80, 200 } do
      local lines = lines_of(show.text(wide, width))
      test.check(#lines <= 43, #lines)
      for _, line in ipairs(lines) do test.check(#line <= width, line) end
    end
  end)
  it("have objects in tables on one line each, with what they are", function()
    local evaluation = mr.evaluate(mr.tensor{ 3, 2 }, mr.lists{ { 0, 1 } }, { "rr", "ap" })
    test.equal(repl.text{ evaluation }, "{mr.Evaluation: rr 0.5000, ap 0.5000}")
    test.equal(repl.text{ mr.zeros{ 2, 3 }, mr.tensor({ 1, 2 }, { device = "cpu" }) },
      "{mr.Tensor {2, 3} float32, {1, 2}  mr.Tensor {2} float32}")
    test.equal(repl.text{ a = evaluation:table() }, "{a = mr.Table of metric, mean, lists, skipped}")
    local fold = mr.data.synthetic{ users = 30, items = 90 }:binarize(4):folds{ k = 2 }[1]
    test.check(repl.text{ fold }:find "^{Fold 1 of 2[^\n]*}$", repl.text{ fold })
  end)
  it("have the values of fields that answer to any name of a metric", function()
    local evaluation = mr.evaluate(mr.tensor{ 3, 2 }, mr.lists{ { 0, 1 } }, { "rr" })
    test.equal({ repl.text(evaluation.mean), repl.text(evaluation.counted) }, { "{rr = 0.5}", "{rr = 1}" })
  end)
  it("say what a function does, or where it is defined", function()
    test.check(repl.text(mr.fit):find("mr.fit(options): Trains", 1, true), repl.text(mr.fit))
    test.check(repl.text(mr.models.mf):find("mr.models.mf(", 1, true), repl.text(mr.models.mf))
    test.check(repl.text(function() end):find("repl_spec.lua:%d"), repl.text(function() end))
    test.equal(repl.text{ f = print, losses = mr.losses }, "{f = function, losses = module mr.losses}")
  end)
  it("are shown by print, too", function()
    local program = dofile "tests/support/program.lua"
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    local _, text = program.run(("echo 'print({1, {2}}, \"x\", 3)' | '%s'"):format(program.moonrank))
    test.equal(text, "{1, {2}}\tx\t3\n")
    for _, command in ipairs{ "-e '%s'", "%s" } do
      local code = 'print({1, {2}}, "x", nil, 3) print() print(nil)'
      if command == "%s" then code = files.written(code) end
      _, text = program.run(("'%s' " .. command):format(program.moonrank, code))
      test.equal(text, "{1, {2}}\tx\tnil\t3\n\nnil\n")
    end
  end)
  it("print values with __tostring, strings and nil as they are", function()
    test.equal(repl.text(mr.tensor { 1, 2 }), tostring(mr.tensor { 1, 2 }))
    test.equal(repl.text(setmetatable({}, { __tostring = function() return "mine" end })), "mine")
    test.equal(repl.text "plain", "plain")
    test.equal(repl.text(nil), "nil")
  end)
end)

describe("?name in the prompt", function()
  local function shown(text)
    local own, lines = print, {}
    rawset(_G, "print", function(...) lines[#lines + 1] = table.concat({ ... }, "\t") end)
    local ok, message = pcall(repl.chunk(text))
    rawset(_G, "print", own)
    if not ok then error(message, 0) end
    return table.concat(lines, "\n")
  end
  it("shows help for values and for their fields and methods", function()
    local folds = mr.data.synthetic{ users = 30, items = 90, mean_activity = 12 }:binarize(4):folds{ k = 2 }
    with_global("t", { fold = folds[1], number = 3 }, function()
      for topic, first in pairs{
        ["?t.fold"] = "mr.Fold",
        ["? t.fold.train "] = "mr.Dataset",
        ["?t.fold.short_users"] = "mr.Fold.short_users",
        ["?t.fold:evaluate"] = "mr.Fold:evaluate(model, metrics, options)",
        ["?t.number"] = "3: a number",
        ["?ndcg@10"] = "mr.metrics.ndcg(scores, lists, options)",
        ["?fold.test"] = "mr.Fold.test",
        ["?"] = "mr",
      } do
        test.equal(shown(topic):match "^[^\n]*", first)
      end
    end)
  end)
end)
