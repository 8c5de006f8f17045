-- Tests softmax losses against plain sums over rows and pairs, reference values and gradient checks.
local mr = require "moonrank"
local test = require "moonrank.test"
local field = dofile("tests/support/field.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local function softplus(x) return math.max(x, 0) + math.log(1 + math.exp(-math.abs(x))) end
local function sigmoid(x) return 1 / (1 + math.exp(-x)) end

-- Functions of a list's scores: the mean of term(score), and the sum of f(score).
local function mean(values, term)
  local sum = 0
  for _, each in ipairs(values) do sum = sum + term(each) end
  return sum / #values
end
local function sum_of(values, f) return mean(values, f) * #values end

-- Formulas of the losses, as functions of the scores of relevant rows (p) and of other rows (n).
local plain = {
  full_softmax = function(p, n)
    local all = sum_of(p, math.exp) + sum_of(n, math.exp)
    return mean(p, function(f) return math.log(all) - f end)
  end,
  sampled_softmax = function(p, n)
    return mean(p, function(f) return math.log(math.exp(f) + sum_of(n, math.exp)) - f end)
  end,
  sl = function(p, n) return mean(p, function(f) return math.log(sum_of(n, math.exp)) - f end) end,
  bsl = function(p, n) return math.log(mean(n, math.exp)) - math.log(mean(p, math.exp)) end,
  bsl_per_positive = function(p, n) return mean(p, function(f) return math.log(sum_of(n, math.exp)) - f end) end,
  psl = function(p, n)
    return mean(p, function(f)
      return math.log(sum_of(n, function(g)
        local y = math.exp(2 * (g - f))
        return (y - 1) / (y + 1) + 1
      end))
    end)
  end,
  llpauc = function(p, n)
    local function r(x) return softplus(5 * x) / 5 end
    local up = mean(p, function(f) return r(2 * sigmoid(f) - (sigmoid(f) - 1) ^ 2 - 0.5) end)
    return mean(n, function(f) return r(2 * sigmoid(f) + sigmoid(f) ^ 2 - 0.5) end) - up - 0.3
  end,
  sl_at_k = function(p, n)
    local all = table.move(p, 1, #p, #n + 1, table.move(n, 1, #n, 1, {}))
    table.sort(all, function(a, b) return a > b end)
    local beta = all[math.min(20, #all)]
    return mean(p, function(f) return sigmoid(f - beta) * (math.log(sum_of(n, math.exp)) - f) end)
  end,
  gbce = function(p, n)
    local alpha = #n / 1999
    local beta = alpha * (0.75 * (1 - 1 / alpha) + 1 / alpha)
    return mean(p, function(f) return (beta * softplus(-f) + sum_of(n, softplus)) / (#n + 1) end)
  end,
}

-- Options with which each loss equals its formula in `plain`.
local given = { gbce = { catalogue = 2000 }, sl = { tau = 1 }, sl_at_k = { tau = 1 } }
local function made(name, bound)
  local options = { bound = bound }
  for key, value in pairs(given[name] or {}) do options[key] = value end
  return mr.losses[name](options)
end

-- Returns lists of these sizes, in which every fourth row and the first one are relevant.
local function lists_of(sizes)
  local grades, scores, of_list = {}, {}, {}
  for l, size in ipairs(sizes) do
    of_list[l] = { {}, {} }
    for i = 1, size do
      local score = ((i * 29 + l * 7) % 61) / 20 - 1.5
      grades[#grades + 1], scores[#scores + 1] = i % 4 == 1 and 1 + i % 3 or 0, score
      table.insert(of_list[l][i % 4 == 1 and 1 or 2], score)
    end
  end
  return mr.lists{ relevance = mr.tensor(grades), sizes = sizes }, scores, of_list
end

it("softmax losses equal plain sums", function()
  local lists, scores, of_list = lists_of{ 0, 1, 2, 5, 31, 32, 33, 127, 128, 129 }
  for name, f in pairs(plain) do
    local found = made(name)(mr.tensor(scores, { dtype = "float64" }), lists)
    for l, rows in ipairs(of_list) do
      near(found[l]:item(), #rows[2] > 0 and f(rows[1], rows[2]) or 0, { rtol = 1e-10, atol = 1e-10 },
        ("%s of list %d"):format(name, l))
    end
    near(made(name)(mr.tensor(scores), lists):double(), found, { rtol = 2e-5, atol = 2e-6 }, name)
    equal(made(name):count(lists), 8)
  end
end)

it("softmax losses have gradients, under bounds, too", function()
  local lists, scores = lists_of{ 0, 1, 2, 5, 9 }
  local x = mr.tensor(scores, { dtype = "float64" })
  for name in pairs(plain) do
    -- SL@K treats its threshold as constant in the derivative, so its gradient differs from finite differences
    if name ~= "sl_at_k" then
      local loss = made(name)
      check(mr.gradcheck(function(s) return loss:mean(s, lists) end, (x * 1):requires_grad()) < 1e-6, name)
    end
    for _, bound in ipairs(mr.losses.bounds(name)) do
      local s = (x * 1):detach():requires_grad()
      made(name, bound):mean(s, lists):backward()
      check(s.grad:abs():max():item() < math.huge, name .. " under " .. bound)
    end
  end
end)

it("softmax losses stay finite for large scores", function()
  local lists = mr.lists{ { 1, 0, 0 }, { 1, 1, 0 } }
  for name in pairs(plain) do
    for _, dtype in ipairs{ "float32", "float64" } do
      local s = mr.tensor({ 900, -900, 0, -900, 800, 900 }, { dtype = dtype }):requires_grad()
      local value = made(name):mean(s, lists)
      value:backward()
      check(math.abs(value:item()) < 4000 and s.grad:abs():max():item() < 1e3, name)
    end
  end
end)

it("mr.losses.psl has a surrogate that ends", function()
  local loss = mr.losses.psl{ surrogate = "relu", tau = 2, tau_star = 0.5 }
  local lists = mr.lists{ { 1, 0, 0 } }
  local x = mr.tensor({ 0.5, 0.25, -0.75 }, { dtype = "float64" })
  near(loss(x, lists):item(), math.log((1 - 0.125) ^ 2 + (1 - 0.625) ^ 2), 1e-12)
  check(mr.gradcheck(function(s) return loss:mean(s, lists) end, (x * 1):requires_grad()) < 1e-6)
  -- a row whose relu term would be negative adds nothing
  near(loss(mr.tensor({ 0.5, 0.25, -9 }, { dtype = "float64" }), lists):item(), math.log((1 - 0.125) ^ 2), 1e-12)
  raises(function() loss(mr.tensor{ 5, 0, -5 }, lists) end, "relu", "finite")
  local atan = mr.losses.psl{ surrogate = "atan", tau = 2 }
  near(atan(x, lists):item(), math.log((1 + math.atan(-0.125)) + (1 + math.atan(-0.625))), 1e-12)
  near(atan(mr.tensor({ 0.5, 40.5, -9 }, { dtype = "float64" }), lists):item(), math.log(1 + math.atan(20)), 1e-12)
  check(mr.gradcheck(function(s) return atan:mean(s * 2, lists) end, (x * 1):requires_grad()) < 1e-6)
  raises(function() atan(mr.tensor{ 5, 0, -5 }, lists) end, "atan", "finite")
  for dtype, far in pairs{ float32 = 1e30, float64 = 1e200 } do
    local leaf = mr.tensor({ 0, far, 0 }, { dtype = dtype }):requires_grad()
    local value = atan(leaf, lists)
    value:sum():backward()
    near(value:item(), math.log(2 + math.pi / 2), 1e-6)
    check(leaf.grad:abs():max():item() < 1)
  end
  local both = mr.losses.psl{ over = "list" }
  near(both(mr.tensor({ 0, 0, 0, 0 }, { dtype = "float64" }), mr.lists{ { 1, 1, 0, 0 } }):item(), 0, 1e-12)
end)

it("the sampled softmax is corrected by probabilities of lists or by one number", function()
  local lists, scores = lists_of{ 5, 9 }
  local x, q = mr.tensor(scores), mr.full({ 14 }, 0.25)
  for _, correction in ipairs{ "both", "negatives" } do
    local loss = mr.losses.sampled_softmax{ correction = correction, tau = 0.5 }
    local of_number = mr.losses.sampled_softmax{ correction = correction, tau = 0.5, probabilities = 0.25 }
    near(loss(x, lists:drawn(q)), of_number(x, lists), 1e-6)
    raises(function() loss(x, lists) end, correction, "probabilities")
  end
  near(mr.losses.sampled_softmax{ correction = "both", probabilities = 0.25 }(x, lists),
    mr.losses.sampled_softmax{}(x, lists), 1e-6)
  raises(function() lists:drawn(mr.full({ 13 }, 0.25)) end, "probabilities", "13", "14")
  raises(function() lists:drawn(q * 0) end, "probabilities", "0")
  raises(function() mr.losses.sampled_softmax{ probabilities = 0.25 } end, "probabilities", "correction")
end)

it("the sampled softmax in mr.fit is corrected by a probability of each item", function()
  local function index(t) return mr.tensor(t, { dtype = "int64" }) end
  local lists = mr.lists{ { 1, 0, 0 }, { 0, 1 } }
  local users, items, q = index{ 1, 2 }, index{ 4, 2, 1, 3, 1 }, mr.tensor{ 0.5, 0.25, 0.125, 0.1 }
  local set = mr.data.dataset{ lists = lists, users = users, items = items }
  local function trained(loss, train)
    local model = mr.models.mf{ users = 2, items = 4, factors = 3, init = 0.5, seed = 1 }
    local run = mr.fit{ model = model, loss = loss, train = train, optimizer = mr.optim.sgd{ lr = 0.1 }, epochs = 2,
      progress = false, shuffle = false }  -- without shuffling, the only batch has the dataset's lists in their order
    return { run.history[1].loss, run.history[2].loss }
  end
  for _, correction in ipairs{ "both", "negatives" } do
    local loss = mr.losses.sampled_softmax{ correction = correction, probabilities = q }
    local model = mr.models.mf{ users = 2, items = 4, factors = 3, init = 0.5, seed = 1 }
    for batch in set:batches{ size = 2 } do  -- the only batch, which is that of the first training step
      local of_lists = mr.losses.sampled_softmax{ correction = correction }
      local first = of_lists:mean(model(batch), batch.lists:drawn(q:rows(batch.items))):item()
      near(trained(loss, set)[1], first, 1e-5)
    end
    near(trained(2 * loss, set)[1], 2 * trained(loss, set)[1], 1e-5)
    local other = mr.losses.sampled_softmax{ correction = correction, probabilities = q * 0.5 + 0.1 }
    near(trained(loss + other, set)[1], trained(loss, set)[1] + trained(other, set)[1], 1e-5)
    raises(function() loss(mr.zeros(5), lists) end, "probabilities", "mr.fit")
    raises(function() mr.losses.sampled_softmax{ correction = correction }(mr.zeros(5), lists) end, "probabilities")
  end
  local short = mr.losses.sampled_softmax{ correction = "both", probabilities = mr.tensor{ 0.5, 0.5, 0.5 } }
  raises(function() trained(short, set) end, "probabilities has 3", "item 4")
  local wrong = { mr.tensor{ 0.5, 0 }, mr.tensor{ 0.5, 0 / 0 }, mr.tensor{ 2 }, mr.ones(2, 2), index{ 1 }, 0, 2 }
  for _, bad in ipairs(wrong) do
    raises(function() mr.losses.sampled_softmax{ correction = "both", probabilities = bad } end, "probabilities")
  end
end)

-- Returns a model with 3 users and 7 items, and a batch whose lists have some of the items.
local function of_catalogue(score)
  local model = mr.models.mf{ users = 3, items = 7, factors = 4, init = 0.7, score = score, dtype = "float64" }
  local function index(t) return mr.tensor(t, { dtype = "int64" }) end
  local lists = mr.lists{ { 1, 1 }, { 0 }, { 0, 1, 0 }, { 1 } }
  return model, { lists = lists, users = index{ 2, 1, 3, 2 }, items = index{ 1, 5, 2, 7, 3, 3, 4 }, training = true }
end

it("full softmax over the catalogue equals the list of all items", function()
  for _, score in ipairs{ "dot", "cosine" } do
    local model, batch = of_catalogue(score)
    local sums = model:catalogue_log_sums(batch.users, 0.5)
    for l, user in ipairs(batch.users:totable()) do
      local all = { lists = mr.lists{ { 1, 1, 1, 1, 1, 1, 1 } }, users = mr.tensor({ user }, { dtype = "int64" }),
        items = mr.arange(1, 7):to "int64" }
      near(sums[l]:item(), (model(all) / 0.5):logsumexp():item(), 1e-12, score)
    end
    local loss = mr.losses.full_softmax{ over = "catalogue", tau = 0.5 }
    equal(loss:count(batch.lists), 4)
    loss._prepare(model, batch)
    local scores = model(batch)
    local values = loss(scores, batch.lists)
    local x, y = scores:detach():totable(), sums:totable()
    near(values, { y[1] - (x[1] + x[2]) / 2 / 0.5, 0, y[3] - x[5] / 0.5, y[4] - x[7] / 0.5 }, 1e-12)
    raises(function() loss(scores, batch.lists) end, "catalogue", "mr.fit")
  end
end)

it("log sums over the catalogue have gradients, in blocks, too", function()
  local core = require "moonrank.core"
  for _, items in ipairs{ 5, 70 } do
    local p = mr.normal({ 3, 4 }, { seed = 1, dtype = "float64" })
    local q = mr.normal({ items, 4 }, { seed = 2, dtype = "float64" })
    check(mr.gradcheck(function(t) return core.catalogue_log_sums(t, q, 0.3) end, (p * 1):requires_grad()) < 1e-6)
    check(mr.gradcheck(function(t) return core.catalogue_log_sums(p, t, 0.3) end, (q * 1):requires_grad()) < 1e-6)
  end
  -- with 3000 users, the 900 items are processed in two blocks
  local p, q = mr.normal({ 3000, 3 }, { seed = 1 }), mr.normal({ 900, 3 }, { seed = 2 })
  local a, b = (p * 1):requires_grad(), (q * 1):requires_grad()
  core.catalogue_log_sums(a, b, 1):sum():backward()
  local c, d = (p * 1):requires_grad(), (q * 1):requires_grad()
  local expected = c:matmul(d:t()):logsumexp(2)
  expected:sum():backward()
  near(core.catalogue_log_sums(p, q, 1), expected, { rtol = 1e-5 })
  near(a.grad, c.grad, { rtol = 1e-4, atol = 1e-5 })
  near(b.grad, d.grad, { rtol = 1e-4, atol = 1e-4 })
end)

it("mr.fit trains the softmax over the catalogue, alone and in a sum of losses", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 20, items = 30, seed = 3 }
  local fold = ratings:binarize(4):folds{ k = 3, seed = 1, nsr = 1 }[1]
  for _, loss in ipairs{ mr.losses.full_softmax{ over = "catalogue" },
    mr.losses.full_softmax{ over = "catalogue", bound = "minmax" } + 0.1 * mr.losses.sl{} } do
    local run = mr.fit{ model = mr.models.mf{ users = 20, items = 30, factors = 4, score = "cosine" }, loss = loss,
      train = fold.train, epochs = 5, batch = 8, optimizer = mr.optim.adam{ lr = 0.05 }, progress = false }
    check(run.history[5].loss < run.history[1].loss)
  end
  -- also computed on validation data, and in a sum of several losses over the catalogue
  local function over(tau) return mr.losses.full_softmax{ over = "catalogue", tau = tau } end
  local function losses_of(loss)
    local run = mr.fit{ model = mr.models.mf{ users = 20, items = 30, factors = 4, seed = 2 }, loss = loss, epochs = 1,
      train = fold.train, valid = fold.train, metrics = { "ndcg" }, batch = 1000, optimizer = mr.optim.sgd{ lr = 1e-9 },
      progress = false }
    return mr.tensor{ run.history[1].loss, run.history[1].valid_loss }
  end
  local one, half = losses_of(over(1)), losses_of(over(0.5))
  near(one[1], one[2], 1e-5)
  local twice = over(1)
  near(losses_of(twice + 2 * twice), one * 3, 1e-5)
  near(losses_of(over(1) + over(0.5)), one + half, 1e-5)
  raises(function()
    mr.fit{ model = mr.models.biased_mf{ users = 20, items = 30 }, loss = mr.losses.full_softmax{ over = "catalogue" },
      train = fold.train, epochs = 1, progress = false }
  end, "biased_mf", "mr.models.mf")
  local model = of_catalogue "dot"
  raises(function() model:catalogue_log_sums(mr.tensor({ 1 }, { dtype = "int64" }), 0) end, "tau", "0")
  raises(function() model:catalogue_log_sums{ 1 } end, "users")
end)

it("softmax losses refuse what they cannot use", function()
  local few = mr.losses.gbce{ catalogue = 2 }
  raises(function() few(mr.tensor{ 1, 0, 0 }, mr.lists{ { 1, 0, 0 } }) end, "catalogue", "2")
  raises(function() mr.losses.gbce{ catalogue = 10, t = 2 } end, "t", "2")
  raises(function() mr.losses.sl{ tau = 0 } end, "tau", "0")
  raises(function() mr.losses.sl_at_k{ k = 0 } end, "k", "0")
  raises(function() mr.losses.llpauc{ alpha = 1.5 } end, "alpha", "1.5")
  raises(function() mr.losses.llpauc_as_coded{ beta = 0 } end, "beta", "0")
  raises(function() mr.losses.psl{ surrogate = "sinh" } end, "surrogate", "sinh")
end)

it("LLPAUC trains its parameters within their ranges", function()
  local lists, scores = lists_of{ 5, 9, 12 }
  local x = mr.tensor(scores, { dtype = "float64" })
  for _, name in ipairs{ "llpauc", "llpauc_as_coded" } do
    local loss = mr.losses[name]{ ascent = false }
    local p = loss:parameters()[1]
    local function of(sign)
      local numbers = p:totable()
      numbers[4] = numbers[4] + sign * 1e-5
      local moved = name == "llpauc" and numbers[4] or 2 * numbers[4]
      return mr.losses[name]{ s_minus = moved }:mean(x, lists):item()
    end
    loss:mean(x, lists):backward()
    near(p.grad[4]:item(), (of(1) - of(-1)) / 2e-5, 1e-8, name)
    -- an optimizer step moves parameters far beyond their allowed ranges; the loss then clips them
    local optimizer = mr.optim.sgd{ lr = 1e3 }:bind{ p }
    optimizer:step()
    loss:mean(x, lists)
    local v = p:totable()
    check(v[1] >= 0 and v[1] <= 1 and v[2] >= 0 and v[2] <= 1 and v[4] >= 0 and v[4] <= 5, name)
    local gamma = name == "llpauc" and v[5] or 2 * v[5]
    check(gamma >= math.max(-v[1], v[2] - 1) and gamma <= 1, name)
  end
  equal(#mr.losses.llpauc{ learn = false }:parameters(), 0)
  raises(function() mr.losses.llpauc{ a = 2 } end, "a", "2")
end)

it("LLPAUC maximizes over s+ and gamma", function()
  local lists, scores = lists_of{ 5, 9 }
  local found = {}
  for i, ascent in ipairs{ true, false } do
    local loss = mr.losses.llpauc{ ascent = ascent }
    loss:mean(mr.tensor(scores), lists):backward()
    found[i] = loss:parameters()[1].grad:totable()
  end
  for i, sign in ipairs{ 1, 1, -1, 1, -1 } do equal(found[1][i], sign * found[2][i]) end
  check(math.abs(found[1][3]) > 1e-3)
end)

-- Returns the loss, and the lists, for a name in the reference values such as "psl2_tanh tau=2 tau_star=0.5".
local function of_reference(text, case, lists)
  local name, options = text:match "^%S+", {}
  for key, value in text:gmatch "(%w[%w_]*)=(%S+)" do options[key] = tonumber(value) end
  local form, surrogate = name:match "^(psl2?)_(%w+)$"
  local correction = name:match "^sampled_softmax_logq_(%w+)$"
  if form then
    name, options.surrogate, options.over = "psl", surrogate, form == "psl2" and "list" or "positive"
  elseif correction then
    name, options.correction = "sampled_softmax", correction
    lists = lists:drawn(mr.tensor(case.sampling_probability, { dtype = "float64" }))
  end
  options.catalogue = name == "gbce" and case.catalogue or nil
  return mr.losses[name](options), lists
end

field.it("softmax losses equal reference values", "softmax", function(golden)
  local cases = golden.lists
  check(#cases > 0)
  for _, case in ipairs(cases) do
    local lists = mr.lists{ case.relevance }
    for text, expected in pairs(case.losses) do
      local loss, with = of_reference(text, case, lists)
      local s = mr.tensor(case.scores, { dtype = "float64" }):requires_grad()
      local value = loss(s, with)
      value:sum():backward()
      near(value:item(), expected.value, { rtol = 1e-10, atol = 1e-12 }, text)
      near(s.grad, mr.tensor(expected.gradient, { dtype = "float64" }), { rtol = 1e-10, atol = 1e-12 }, text)
      equal(loss:count(lists), expected.rule and 0 or 1)
    end
  end
end)

field.it("softmax losses of cosines equal reference values", "softmax", function(golden)
  local f64 = { dtype = "float64" }
  for _, case in ipairs(golden.cosine) do
    local lists = mr.lists{ case.relevance }
    for text, expected in pairs(case.losses) do
      local u, v = mr.tensor(case.user, f64):requires_grad(), mr.tensor(case.items, f64):requires_grad()
      local s = (v * u):sum(2) / ((v * v):sum(2):sqrt() * (u * u):sum():sqrt())
      near(s:detach(), mr.tensor(case.scores, f64), { rtol = 1e-12 }, text)
      local value = of_reference(text, case, lists)(s, lists)
      value:sum():backward()
      near(value:item(), expected.value, { rtol = 1e-10, atol = 1e-12 }, text)
      near(u.grad, mr.tensor(expected.gradient_user, f64), { rtol = 1e-10, atol = 1e-12 }, text)
      near(v.grad, mr.tensor(expected.gradient_items, f64), { rtol = 1e-10, atol = 1e-12 }, text)
    end
  end
end)

field.it("LLPAUC equals reference values", "softmax", function(golden)
  local names = { "a", "b", "s_plus", "s_minus", "gamma", "theta_a", "theta_b" }
  check(#golden.llpauc > 0)
  for _, case in ipairs(golden.llpauc) do
    local lists = mr.lists{ case.relevance }
    for _, name in ipairs{ "llpauc", "llpauc_as_coded" } do
      local coded, options, expected = name == "llpauc_as_coded", { ascent = false }, case[name]
      for i = 1, coded and 7 or 5 do options[names[i]] = case[names[i]] end
      for _, key in ipairs{ "alpha", "beta", "kappa" } do options[key] = case[key] end
      local loss, s = mr.losses[name](options), mr.tensor(case.scores, { dtype = "float64" }):requires_grad()
      local value = loss(s, lists)
      value:sum():backward()
      near(value:item(), expected.value, { rtol = 1e-10, atol = 1e-12 }, name)
      near(s.grad, mr.tensor(expected.gradient_scores, { dtype = "float64" }), { rtol = 1e-10, atol = 1e-12 }, name)
      for i, gradient in ipairs(loss:parameters()[1].grad:totable()) do
        local scale = coded and i >= 3 and i <= 5 and 2 or 1
        near(gradient / scale, expected.gradient_parameters[names[i]], { rtol = 1e-10, atol = 1e-12 }, names[i])
      end
    end
  end
end)
