-- Runs the random caller (a fuzzer that calls library functions with random arguments) briefly: three sessions with
-- fixed seeds. tests/caller/README.md explains long runs.
local mr = require "moonrank"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal = test.it, test.check, test.equal

local here = sweeps.capture("pwd"):match "[^\n]+"

local why_not = sweeps.why_not_bare()

local function sessions(part, calls)
  if why_not then return test.skip(why_not) end
  sweeps.in_folder(function(folder)
    local words = ("%s %s/tests/caller/run.lua --part %s --sessions 3 --calls %d 2>&1"):format(
      sweeps.moonrank, here, part, calls)
    local pipe = assert(io.popen(("cd %s && %s"):format(folder, words)))
    local said = pipe:read "a"
    equal(pipe:close(), true, said)
    local made, worked, all = said:match "(%d+) calls in 3 sessions, (%d+) of (%d+) functions worked"
    check(made and tonumber(made) >= 3 * calls and tonumber(worked) > 0.85 * tonumber(all), said)
  end)
end

it("random calls of the core neither crash nor raise errors of Lua itself, and most functions work", function()
  sessions("core", 2500)
end)

it("changed examples of the library neither crash nor raise errors of Lua itself", function()
  sessions("library", 700)
end)

it("run.lua --short reduces a record to the lines that cause a crash or an error of Lua itself", function()
  if why_not then return test.skip(why_not) end
  sweeps.in_folder(function(folder)
    local function shortened(part, other, ...)
      local lines = {}
      for i = 1, 11 do lines[i] = other end
      for i, line in ipairs{ ... } do lines[4 * i] = line end
      sweeps.write(folder .. "/record.lua", table.concat(lines, "\n") .. "\n")
      local said = sweeps.capture(("cd %s && rm -rf found && %s %s/tests/caller/run.lua --part %s "
        .. "--short record.lua"):format(folder, sweeps.moonrank, here, part))
      return said, sweeps.read(folder .. "/found/short-of.lua")
    end
    local said, lines = shortened("core", "v[1] = call('mr.Tensor:sum', mr.tensor{1, 2})", "v[2] = 3", "os.exit(v[2])")
    equal({ said, lines }, { "found/short-of.lua: status 3\n", "v[2] = 3\nos.exit(v[2])\n" })
    local fails = "try('fail', 'require(\"moonrank.check\").fail(nil, 1)')"
    said, lines = shortened("library", "try('lists', 'mr.lists{{1, 0}}')", fails)
    check(said:find("attempt to index a nil value", 1, true), said)
    equal(lines, fails .. "\n")
  end)
end)

it("run.lua --found accepts a folder with blanks and quotes in its name, and removes nothing else", function()
  if why_not then return test.skip(why_not) end
  sweeps.in_folder(function(folder)
    sweeps.write(folder .. "/it", "mine")
    local place = folder .. "/it 's found"
    local quoted = "'" .. place:gsub("'", "'\\''") .. "'"
    local said = sweeps.capture(("cd %s && %s %s/tests/caller/run.lua --sessions 1 --calls 20 --found %s 2>&1"):format(
      folder, sweeps.moonrank, here, quoted))
    check(said:find("calls in 1 sessions", 1, true), said)
    equal(sweeps.read(folder .. "/it"), "mine")
    equal(sweeps.capture(("cd %s && ls -A"):format(folder)), "it\nit 's found\n")
  end)
end)

it("claims.broken names the property that a successful call violates", function()
  local claims = dofile "tests/caller/claims.lua"
  local broken = claims.broken
  local function lists(...) return mr.lists{ ... } end
  local function ids(...) return mr.tensor({ ... }, { dtype = "int64" }) end
  equal(broken("core.summary", { n = 0 }, { 0 / 0, -0.0 }), "gives a deviation of -0")
  equal(broken("core.wilcoxon", { n = 0 }, { { p = 1.5 } }), "gives a p of 1.5")
  equal(broken("core.positives", { ids(1, 1, 2), ids(3, 3, 3) }, {}), "takes an item of a user twice")
  equal(broken("core.positives", { ids(1, 1, 2), ids(3, 4, 3) }, {}), nil)
  local bounded = { mr.tensor{ 0.5 }, nil, lists{ 1, 1 } }
  equal(broken("core.affine_bounded", bounded, { mr.tensor{ 0 / 0 } }), "gives NaN where its arguments have none")
  equal(broken("core.affine_bounded", bounded, { mr.tensor{ 0 } }), nil)
  equal(broken("core.affine_bounded", { mr.tensor{ 0 / 0 }, nil, lists{ 1, 1 } }, { mr.tensor{ 0 / 0 } }), nil)
  local function of(relevance, items)
    return { lists = lists(relevance), users = ids(1), items = ids(table.unpack(items)) }
  end
  local good, same, twice = of({ 1, 0 }, { 1, 2 }), of({ 0, 1 }, { 3, 1 }), of({ 0, 1 }, { 3, 3 })
  local function of_fold(a, b, c) return broken("core.make_fold", {}, { { train = a, valid = b, test = c } }) end
  equal({ of_fold(good, same, of({ 1 }, { 4 })), of_fold(good, good, twice),
    broken("core.sampled_lists", {}, { good }) },
    { "gives what is relevant to two parts, train and valid", "gives list 1 an item twice" })
  equal(broken("core.permutation", { 3 }, { ids(1, 3, 3) }), "gives no permutation")
  equal(broken("core.sort", { mr.tensor{ 2, 1 }, nil, false }, { mr.tensor{ 2, 1 } }), "gives entries out of order")
  equal(broken("mr.Distribution:cdf", {}, { 1.5 }), "gives 1.5, beyond 0 to 1")
  equal(broken("mr.Distribution:pmf", {}, { mr.tensor{ 1, 2 }, mr.tensor{ 0.5, 0.25 } }),
    "gives probabilities of 0.75 in all")
  equal(broken("mr.Metric:values", { { base = "ap", name = "ap" } }, { mr.tensor{ 2 } }),
    "gives 2, beyond 0 to 1 of ap")
  equal(broken("core.distribution_of", { mr.tensor{ 1, 1 / 0 } }, {}), "takes NaN or infinity")
  equal(broken("core.track", { mr.ones(1) }, {}), "leaves its tensor as it was")
  equal(broken("core.least_squares", { mr.zeros(2, 0) }, {}), "takes no columns")
  sweeps.in_folder(function(folder)
    local path = folder .. "/letor.txt"
    local function after(name, text)
      sweeps.write(path, "1 qid:1 1:1\n")
      local damage = claims.watch(folder .. "/")
      if text then sweeps.write(path, text) end
      return damage(name, { n = 2, "x", "letor.txt" })
    end
    equal({ after("core.save_tensors", "tables"), after "core.save_tensors" or "well",
      after("core.write_file", "any") or "well" }, { "replaces letor.txt", "well", "well" })
  end)
end)

it("run.lua --replay repeats the calls of a record", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    sweeps.write(folder .. "/record.lua", [[
v[1] = mr.tensor{1, 2}
v[2], v[3] = call("mr.Tensor:gt", v[1], 1)
v[4], v[5] = call("mr.Tensor:gt", v[1], "x")
]])
    local text =
      sweeps.capture(("cd %s && %s %s/tests/caller/run.lua --replay record.lua"):format(folder, sweeps.moonrank, here))
    equal(text, "worked mr.Tensor:gt 1\n")
  end)
end)
