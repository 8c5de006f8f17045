-- Bounds of softmax losses in the protocol of Yang et al. (2025), and the script of the comparison. Answers are worked
-- out beside each test.
local mr = require "moonrank"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local scripts, sweeps = dofile "tests/support/scripts.lua", dofile "tests/support/sweeps.lua"
local in_process = dofile "tests/support/in_process.lua"
local protocol = dofile "scripts/ir_benchmark/protocol.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

-- The number of relevant rows of each user in a dataset.
local function counts_of(set)
  local sizes, found = set.lists.sizes:totable(), {}
  for l, user in ipairs(set.users:totable()) do found[user] = math.tointeger(sizes[l]) end
  return found
end

it("a tenth of a user's items in train is validation: rounded down, and at least one", function()
  local folder = sweeps.new_folder()
  local train, of_test = { "user\titem" }, { "user\titem" }
  for user, count in ipairs{ 2, 19, 20, 35 } do
    for item = 1, count do train[#train + 1] = ("%d\t%d"):format(user, item) end
    of_test[user + 1] = ("%d\t%d"):format(user, 40)
  end
  sweeps.write(folder .. "/train.tsv", table.concat(train, "\n") .. "\n")
  sweeps.write(folder .. "/test.tsv", table.concat(of_test, "\n") .. "\n")
  local set = protocol.open("own", folder)
  local fold = set.fold(1)
  equal(counts_of(fold.valid), { 1, 1, 2, 3 })
  equal(counts_of(fold.train), { 1, 18, 18, 32 })
  equal(counts_of(fold.test), { 1, 1, 1, 1 })
  local function chosen(seed)
    local items = set.fold(seed).valid.items:totable()
    table.sort(items)
    return table.concat(items, " ")
  end
  local first = chosen(1)
  check(chosen(2) ~= first, "the seed chooses the validation part")
  equal(chosen(1), first)
end)

it("a bound multiplies SL and SL@20 by the slope of the user's whole list", function()
  local set = protocol.made_up "health"
  local fold = set.fold(1)
  local how = { tau = 0.5, tau_beta = 2, every = 1 }
  local batch = interactions.of(fold.train, { users = set.users, items = set.items, negatives = 30, shared = false,
    seed = 1 }):pass{ size = 10000, shuffle = false, seed = 1, epoch = 1, device = "cpu" }()
  batch.step, batch.training = 1, true
  local owned, slope_of = counts_of(fold.train), {}
  for _, count in pairs(owned) do
    local whole = {}
    for i = 1, set.items do whole[i] = i <= count and 1 or 0 end
    slope_of[count] = mr.bounds.slopes("zscore", "ndcg@20", mr.lists{ whole }):item()
  end
  for _, loss in ipairs{ "SL", "SL@20" } do
    local scores = protocol.model(set, loss, 1)(batch)
    local plain = protocol.loss(loss, how)(scores, batch.lists):totable()
    local bounded = protocol.loss(loss, how, "zscore")(scores, batch.lists):totable()
    for l, user in ipairs(batch.users:totable()) do
      near(bounded[l], slope_of[owned[user]] * plain[l], { rtol = 1e-5 }, loss)
    end
  end
end)

scripts.it("bounds.lua compares bounds, SL@20 with SL, and groups of users, and shows its runs again", {},
  function(folder)
    local words = { "--smoke", "--sets", "health", "--store", folder .. "/runs.db", "--workers", "0" }
    local section = in_process.section("scripts/ir_benchmark/bounds.lua", words)
    local bounded, beside, gains = table.unpack(section.tables)
    local by_name, bounds = {}, mr.losses.bounds "sl"
    equal({ #bounded.rows, #beside.rows }, { 2 * #bounds, #bounds })
    for _, row in ipairs(bounded.rows) do by_name[row[2] .. " " .. row[3]] = row end
    for _, row in ipairs(bounded.rows) do
      if row[3] ~= "none" then near(row[6], row[5] - by_name[row[2] .. " none"][5], 1e-9, row[3]) end
    end
    for _, row in ipairs(beside.rows) do
      near(row[4], by_name["SL@20 none"][5] - by_name["SL " .. row[2]][5], 1e-9, row[2])
    end
    -- The changes of the groups of a pair have the change of all users as their mean.
    local sums, users = {}, {}
    for _, row in ipairs(gains.rows) do
      sums[row[2]] = (sums[row[2]] or 0) + row[4] * row[6]
      users[row[2]] = (users[row[2]] or 0) + row[4]
    end
    for _, bound in ipairs(bounds) do
      for _, loss in ipairs(bound ~= "none" and { "SL", "SL@20" } or {}) do
        local what = loss .. ", " .. bound
        near(sums[what] / users[what], by_name[loss .. " " .. bound][6], 1e-9, what)
      end
    end
    words[#words], words[#words - 1] = nil, "--kept"
    equal(in_process.section("scripts/ir_benchmark/bounds.lua", words).tables[1].rows, bounded.rows)
  end)
