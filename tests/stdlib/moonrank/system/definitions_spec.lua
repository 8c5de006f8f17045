-- Tests entries that scripts define by name (such as losses), and definitions that only one script sees.
local mr = require "moonrank"
local test = require "moonrank.test"
local definitions = require "moonrank.system.definitions"
local it, equal, check, fails = test.it, test.equal, test.check, test.raises

local function loss(value) return { direction = "maximize", smooth = function(s, l) return l:sum(s) * value end } end
local function model() return { parameters = function() return {} end, forward = function() end } end
local function names()
  return { mr.losses.names(), mr.bounds.names(), require("moonrank.check").names(definitions.all) }
end

it("definitions.apart removes inner definitions at its end and restores replaced ones", function()
  mr.losses.define("apart_loss", loss(1))
  mr.bounds.define("apart_bound", function(score) return score end)
  local before, was, bound = names(), mr.losses.apart_loss, mr.bounds.resolve "apart_bound"
  equal(definitions.apart(function(x)
    mr.losses.define("apart_loss", loss(2))
    mr.losses.define("apart_loss", loss(3))
    mr.losses.define("apart_other", loss(4))
    mr.bounds.define("apart_bound", function(score) return 2 * score end)
    mr.bounds.define("apart_bound_2", function(score) return 2 * score end)
    mr.models.define("apart_model", model())
    check(mr.losses.apart_loss ~= was and definitions.all["model apart_model"], "defined within")
    return x + 1
  end, 1), 2)
  equal(names(), before)
  check(mr.losses.apart_loss == was and rawget(mr.losses, "apart_other") == nil, "losses")
  check(mr.bounds.resolve "apart_bound" == bound, "bounds")
  check(not require("moonrank.models.registry").of_script "apart_model", "models")
end)

it("definitions.apart removes inner definitions after an error, also when nested", function()
  local before = names()
  definitions.apart(function()
    mr.losses.define("apart_first", loss(1))
    local inner = names()
    fails(function()
      definitions.apart(function()
        mr.losses.define("apart_second", loss(1))
        error "stop"
      end)
    end, "stop")
    equal(names(), inner)
  end)
  equal(names(), before)
end)
