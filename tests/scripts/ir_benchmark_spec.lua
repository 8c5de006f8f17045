-- The protocol of Yang et al. (2025), scripts/ir_benchmark/protocol.lua, on made-up interactions, and the script of
-- Table 2. Answers are worked out beside each test.
local mr = require "moonrank"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local scripts, sweeps = dofile "tests/support/scripts.lua", dofile "tests/support/sweeps.lua"
local protocol, published = dofile "scripts/ir_benchmark/protocol.lua", dofile "scripts/ir_benchmark/published.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

local set = protocol.made_up "health"
local fold = set.fold(1)

-- Cosines of a user with all items, in Lua's own numbers.
local function cosines(model, user)
  local users, items = table.unpack(model:parameters())
  local p, found = users:totable()[user], {}
  local function norm(x)
    local sum = 0
    for _, value in ipairs(x) do sum = sum + value * value end
    return math.sqrt(sum)
  end
  for i, q in ipairs(items:totable()) do
    local product = 0
    for c in ipairs(q) do product = product + p[c] * q[c] end
    found[i] = product / norm(p) / norm(q)
  end
  return found
end

-- A batch of all interactions of train, in training step `step`.
local function batch_of(step)
  local of = interactions.of(fold.train, { users = set.users, items = set.items, negatives = 30, shared = false,
    seed = 1 })
  local batch = of:pass{ size = 10000, shuffle = false, seed = 1, epoch = 1, device = "cpu" }()
  batch.step, batch.training = step, true
  return batch
end

it("models of all losses but BPR score by cosines", function()
  local batch = batch_of(1)
  for _, loss in ipairs{ "SL", "LLPAUC", "BPR" } do
    local model = protocol.model(set, loss, {}, 1, 1)
    local scores, items, user = model(batch):totable(), batch.items:totable(), batch.users:totable()[1]
    local expected = cosines(model, user)
    for k = 1, 31 do
      if loss ~= "BPR" then near(scores[k], expected[items[k]], 1e-6) end
    end
    if loss == "BPR" then check(math.abs(scores[1] - expected[items[1]]) > 1e-4) end
  end
end)

it("SL@20 estimates the 20th largest score of each user in every `every`-th epoch", function()
  protocol.prepare(set, fold.train)
  local model = protocol.model(set, "SL@20", { every = 3 }, 1, 1)
  model((batch_of(2)))
  equal(model:buffers().quantiles:abs():sum():item(), 0)
  local batch = batch_of(3)
  model(batch)
  local found, rows, at = model:buffers().quantiles:totable(), batch.items:totable(), {}
  -- The last list of a user in the batch is the one that counts.
  for l, user in ipairs(batch.users:totable()) do at[user] = 31 * (l - 1) end
  local sizes = fold.train.lists.sizes:totable()
  table.sort(sizes)
  local most, items, first = sizes[math.floor(1 + 0.9 * (#sizes - 1))], fold.train.items:totable(), 0
  for l, user in ipairs(fold.train.users:totable()) do
    local size, scores, all = math.tointeger(fold.train.lists.sizes:totable()[l]), cosines(model, user), {}
    for i = first + 1, first + size do all[#all + 1] = scores[items[i]] end
    for k = at[user] + 2, at[user] + 31 do all[#all + 1] = scores[rows[k]] end
    first = first + size
    table.sort(all, function(a, b) return a > b end)
    if size <= most then near(found[user], all[20], 1e-6) end
  end
end)

it("SL@20 is SL with the weight of the relevant item above the user's quantile", function()
  protocol.prepare(set, fold.train)
  local how = { tau = 0.5, tau_beta = 2, every = 1 }
  local model, batch = protocol.model(set, "SL@20", how, 1, 1), batch_of(1)
  model(batch)
  local quantiles = model:buffers().quantiles:rows(batch.users)
  batch.step, batch.training = 2, true
  local scores = model(batch)
  local plain = mr.losses.sl{ tau = 0.5 }(scores, batch.lists)
  local own = scores:reshape(batch.size, 31):narrow(2, 1, 1):reshape(batch.size)
  local values = protocol.loss("SL@20", how)(scores, batch.lists)
  near(values:totable(), (((own - quantiles) / 2):sigmoid() * plain):totable(), 1e-6)
end)

it("test leaves out the items that the model was trained on, and validation items only on demand", function()
  local model = protocol.model(set, "SL", {}, 1, 1)
  local coded, without = protocol.test(fold, model)
  local train, valid = {}, {}
  for part, into in pairs{ train = train, valid = valid } do
    local items, first = fold[part].items:totable(), 0
    for l, size in ipairs(fold[part].lists.sizes:totable()) do
      local user = fold[part].users:totable()[l]
      into[user] = {}
      for i = first + 1, first + size do into[user][items[i]] = true end
      first = first + size
    end
  end
  local items, first, means, count = fold.test.items:totable(), 0, { 0, 0 }, 0
  for l, size in ipairs(fold.test.lists.sizes:totable()) do
    local user, wanted = fold.test.users:totable()[l], {}
    for i = first + 1, first + size do wanted[items[i]] = true end
    first, count = first + size, count + (size > 0 and 1 or 0)
    local scores = cosines(model, user)
    for kind = 1, 2 do
      local ranked, hits = {}, 0
      for item = 1, set.items do
        local known = (train[user] or {})[item] or kind == 2 and (valid[user] or {})[item]
        if not known then ranked[#ranked + 1] = item end
      end
      table.sort(ranked, function(a, b) return scores[a] > scores[b] end)
      for r = 1, 20 do hits = hits + (wanted[ranked[r]] and 1 or 0) end
      means[kind] = means[kind] + (size > 0 and hits / size or 0)
    end
  end
  near(coded.mean["recall@20"], means[1] / count, 1e-6)
  near(without.mean["recall@20"], means[2] / count, 1e-6)
end)

it("every loss has published hyperparameters and numbers on every data set", function()
  for name, of in pairs(published) do
    for _, loss in ipairs(protocol.losses) do
      equal(#of[loss].printed, 2, name)
      check(protocol.loss(loss, of[loss]).name and of[loss].rate > 0, name)
    end
  end
end)

scripts.it("table_2.lua reads a folder of the format, keeps its runs and shows them again", {}, function(folder)
  os.execute(("mkdir -p '%s/own'"):format(folder))
  local train, test_part = { "user_procid\titem_procid" }, { "user_procid\titem_procid" }
  for user = 0, 19 do
    for k = 0, 9 do train[#train + 1] = ("%d\t%d"):format(user, (7 * user + 3 * k) % 50) end
    for k = 10, 11 do test_part[#test_part + 1] = ("%d\t%d"):format(user, (7 * user + 3 * k) % 50) end
  end
  sweeps.write(folder .. "/own/train.tsv", table.concat(train, "\n") .. "\n")
  sweeps.write(folder .. "/own/test.tsv", table.concat(test_part, "\n") .. "\n")
  local words = "--sets folder --folder own --like gowalla --epochs 5 --negatives 10 --batch 64 --store runs.db"
  local text = scripts.run(folder, "ir_benchmark/table_2.lua", words .. " --workers 0")
  for _, loss in ipairs(protocol.losses) do check(text:find("own +" .. loss:gsub("%p", "%%%0") .. " "), text) end
  check(not text:find("nan", 1, true), text)
  equal(scripts.run(folder, "ir_benchmark/table_2.lua", words .. " --kept"):match "data.*", text:match "data.*")
  for option, case in pairs{ ["--sets folder"] = "--sets folder", ["--smoke"] = "--smoke --folder own",
    ["without --sets folder"] = "--folder own", ["train.tsv"] = "--sets folder --folder ." } do
    local status, _, err = sweeps.run(folder, scripts.root .. "/scripts/ir_benchmark/table_2.lua", case)
    check(status == 2 and err:find("--folder", 1, true) and err:find(option, 1, true), case .. err)
  end
end)
