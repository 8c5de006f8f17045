-- Tests that a misspelt name in mr or one of its submodules raises an error that suggests the nearest name.
local test = require "moonrank.test"
local mr = require "moonrank"

local parts = { bounds = "minmx", data = "movilens", experiment = "studdy", losses = "ndgc", metrics = "ndgc",
  models = "lienar", optim = "adm", plot = "lnes", smooth = "ndgc", stats = "wilcoxn" }
local near = { data = "movielens", experiment = "study", losses = "ndcg", metrics = "ndcg", models = "linear",
  optim = "adam", plot = "lines", smooth = "ndcg", stats = "wilcoxon" }

for part, name in pairs(parts) do
  test.it("mr." .. part .. "." .. name .. " raises an error at the script's line, with the nearest name", function()
    local message = test.raises(function() return mr[part][name] end, "mr." .. part, name)
    test.check(message:find("names_spec.lua:", 1, true), message)
    if near[part] then test.check(message:find(("'%s'"):format(near[part]), 1, true), message) end
    test.equal(rawget(mr[part], name), nil)
    for _, value in pairs(mr[part]) do test.check(value ~= nil) end
  end)
end

test.it("mr and tensors suggest Moonrank's function for names from other libraries", function()
  for name, text in pairs{ relu = "x:relu(...)", topk = "x:topk(...)", concat = "mr.cat({x, y}, dim)",
    from_numpy = "mr.tensor(values)", view = "x:reshape(...)" } do
    test.raises(function() return mr[name] end, name, text)
  end
  test.raises(function() return mr[3] end, "'3'")
  test.raises(function() return mr.ones(2):cat(mr.ones(2)) end, "mr.Tensor", "'cat'", "mr.cat({x, y}, dim)")
  for _, name in ipairs{ "cat", "stack", "tensor" } do test.equal(type(mr[name]), "function") end
end)

test.it("mr.losses, mr.metrics and mr.models have the names that a script defines", function()
  mr.losses.define("names_spec_loss", { direction = "maximize", metric = "ap", smooth = mr.smooth.ap })
  mr.metrics.define("names_spec_metric", function(ranks, lists) return lists:mean(ranks) end)
  local function parameters() return { x = mr.zeros(1) } end
  mr.models.define("names_spec_model", { parameters = parameters, forward = function() end })
  test.check(mr.losses.names_spec_loss and mr.metrics.names_spec_metric and mr.models.names_spec_model)
end)
