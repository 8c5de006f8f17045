-- Tests that Lua code is written with the former names of options where it calls functions with renamed options.
local former_code = require "moonrank.sweep.former_code"
local lexer = require "moonrank.prompt.lexer"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

-- Returns a text as its tokens, with the names that options had before a round of renamings.
local function before(round, text)
  local parts = {}
  for i, token in ipairs(former_code.before(round, lexer.tokens(text))) do parts[i] = token.text end
  return table.concat(parts, " ")
end

local function as_is(text) return before(math.huge, text) end

describe("code before a renaming", function()
  it("has the former names in calls of functions and methods", function()
    for present, former in pairs{
      ["mr.losses.top_n_rank{ k = 5 }"] = "mr.losses.top_n_rank{ n = 5 }",
      ["local f = top_n_rank({ above = 'relu', k = n })"] = "local f = top_n_rank({ above = 'relu', n = n })",
      ["mr.losses.approx_ndcg{ steepness = 2 }"] = "mr.losses.approx_ndcg{ alpha = 2 }",
      ["ratings:hold_out{ valid = 0.1, seed = 1 }"] = "ratings:hold_out{ share = 0.1, seed = 1 }",
      ["s:best('loss', { value = 'ap', where = { value = 1 } })"] =
        "s:best('loss', { on = 'ap', where = { value = 1 } })",
      ["mr.fit{ checkpoint = { path = p, every = 2 }, every = 3 }"] =
        "mr.fit{ checkpoint = { path = p, epochs = 2 }, every = 3 }",
    } do
      equal(before(2, present), as_is(former))
      equal(before(1, present), as_is(former))
    end
  end)

  it("has former values, too", function()
    local function define(option) return ("mr.metrics.define('a', function(x) return x end, { %s })"):format(option) end
    equal(before(2, define "direction = 'minimize'"), as_is(define "minimize = true"))
    equal(before(2, "mr.table{ columns = c, direction = d }"), as_is "mr.table{ columns = c, better = d }")
    equal(before(2, "mr.plot.parallel{ direction = 'maximize' }"), as_is "mr.plot.parallel{ minimize = false }")
    equal(before(2, 'mr.stats.ecdf_compare(a, b, { direction = "minimize" })'),
      as_is 'mr.stats.ecdf_compare(a, b, { better = "lower" })')
  end)

  it("has only names that were renamed in the round or later", function()
    equal(before(2, "mr.losses.ndcg{ steepness = 2 }"), as_is "mr.losses.ndcg{ steepness = 2 }")
    equal(before(1, "mr.losses.ndcg{ steepness = 2 }"), as_is "mr.losses.ndcg{ gain = 2 }")
    equal(before(1, "mr.metrics.ndcg{ gain = 'exp2' }"), as_is "mr.metrics.ndcg{ gain = 'exp2' }")
  end)

  it("keeps names of other functions and of variables", function()
    for _, text in ipairs{ "mr.losses.soft_precision{ k = 5 }", "local k = 5 top_n_rank(k)", "top_n_rank{ k }",
      "mr.losses.define('a', { direction = 'minimize' })", "study:parallel{ direction = 'minimize' }",
      "study:best('loss').value", "other.best{ value = 1 }", "mr.losses.top_n_rank{ of = { k = 5 } }", "top_n_rank{",
      "mr.fit{ every = 2 }", "ratings:folds{ valid = 0.1 }" } do
      equal(before(2, text), as_is(text))
    end
  end)
end)

describe("a kept sweep", function()
  local script = [[
local mr = require "moonrank"
local function loss() return mr.losses.top_n_rank{ NAME = 3 } + mr.losses.ap{ steepness = 2 } end
local captured = mr.losses.top_n_rank{ k = 2 }
print(#mr.sweep{ name = "s", store = "r.db", space = { x = mr.choice{ 1, 2 } }, progress = false, workers = 0,
  trials = TRIALS, sampler = "random", metric = "v", direction = "minimize", settings = { loss = captured },
  run = function(trial) return { v = loss()(mr.tensor{ trial.x, 0 }, mr.lists{ { 1, 0 } }):item() + #captured.name } end
}:trials().rows)
]]

  it("resumes after the script was adapted to a new name of an option, but not after another change", function()
    if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
    sweeps.in_folder(function(folder)
      local function run(name, trials, steepness)
        local text = script:gsub("NAME", name):gsub("TRIALS", trials):gsub("steepness = 2", "steepness = " .. steepness)
        sweeps.write(folder .. "/sweep.lua", text)
        return sweeps.run(folder, "sweep.lua")
      end
      local status, out, err = run("n", 2, 2)
      equal({ status, out }, { 0, "2\n" }, err)
      local _, warnings = err:gsub("n is called k now", "")
      equal(warnings, 1, err)
      equal({ run("k", 3, 2) }, { 0, "3\n", "" })
      status, _, err = run("k", 4, 3)
      check(status == 1 and err:find("loss", 1, true), err)
      equal({ run("k", 4, 2) }, { 0, "4\n", "" })
    end)
  end)
end)

