-- The data sets of the thesis' experiments, each with the model that ranks it (Westerborg 2022, chapter 4), and CiteULike-a beside them:
-- mr.Fold by setting, number of the fold and seed.
local mr = require "moonrank"
local find = require "moonrank.data.find"

local M = {}

---@class thesis.Data
---@field title string
---@field setting string      the parameter of which it has several values: negatives per relevant item, or the least relevant label
---@field values integer[]
---@field folds integer
---@field epochs integer
---@field patience? integer   epochs without a better one on validation after which training ends
---@field sizes integer[]     of the model, for the search of section 4.1.1
---@field size integer        which one the thesis takes
---@field rates number[]      learning rates to choose from
---@field tuning integer      on how many folds they and the sizes are chosen
---@field fold fun(value: integer, number: integer, seed: integer): mr.Fold
---@field model fun(size: integer, seed: integer): mr.Model

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or nil end

-- Ratings of 4 and more are relevant; users with 25 of them or more; five folds by user, negatives drawn once per fold and seed.
local function movielens(folder, smoke)
  local ratings = smoke and mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }
    or mr.data.movielens(place(folder, "ml-latest-small"))
  ratings = ratings:binarize(4):min_relevant(25)
  return {
    title = "MovieLens", setting = "nsr", values = { 1, 2, 3 }, folds = 5, epochs = 40, size = 32, sizes = { 16, 32, 64 },
    rates = { 0.001, 0.003, 0.01, 0.03 }, tuning = 1,
    fold = function(nsr, number, seed) return ratings:folds{ k = 5, by = "user", seed = seed, nsr = nsr }[number] end,
    model = function(size, seed)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = size, init = 0.01, seed = seed }
    end,
  }
end

local function made_up_queries()
  local all = mr.data.synthetic{ kind = "queries", queries = 120, features = 46, mean_size = 12 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { { train = rest, valid = valid, test = test } }
end

-- Its own five folds; relevant from label 2 as the text says, or from label 1, which is what its Table 5.1 seems to show. No query is left
-- out; where none is relevant there is nothing to rank, and the metrics are not defined.
local function mq2008(folder, smoke)
  local folds = smoke and made_up_queries() or mr.data.letor_folds(place(folder, "mq2008") or "mq2008")
  local function change(part, train, label) return part:binarize(label):standardize(train:scaling()) end
  return {
    title = "MQ2008", setting = "label", values = { 2, 1 }, folds = 5, epochs = 100, patience = 20, size = 46,
    sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number)
      local fold = folds[number]
      return { train = change(fold.train, fold.train, label), valid = change(fold.valid, fold.train, label),
        test = change(fold.test, fold.train, label) }
    end,
    model = function(size, seed) return mr.models.mlp{ inputs = 46, hidden = { size }, activation = "relu", seed = seed } end,
  }
end

-- `count` different numbers from 1 to `most`, none of `taken`, which they join.
local function draw(count, most, taken)
  local found = {}
  while #found < count do
    local item = math.random(most)
    if not taken[item] then
      taken[item] = true
      found[#found + 1] = item
    end
  end
  return found
end

-- Items by user of one part of a published split.
local function read_part(folder, number, part)
  local path = assert(find.file(("%s/fold_%d"):format(folder, number - 1), { part .. ".csv" }), part .. ".csv is missing")
  local read = mr.data.interactions(path, { columns = { user = "user_id", item = "item_id", rating = false } })
  local users, items, by_user = read.user:totable(), read.item:totable(), {}
  for row, user in ipairs(users) do
    local id = math.tointeger(tonumber(read.user_ids[user])) + 1
    by_user[id] = by_user[id] or {}
    table.insert(by_user[id], math.tointeger(tonumber(read.item_ids[items[row]])) + 1)
  end
  return by_user
end

-- Judged lists of users: their relevant items, and `nsr` for each of items that they have nowhere.
local function judged(positives, nsr, items, taken, name)
  local grades, users, rows = {}, {}, {}
  for user, own in ipairs(positives) do
    local all = table.move(draw(nsr * #own, items, taken[user]), 1, nsr * #own, #own + 1, { table.unpack(own) })
    local grade = {}
    for i, item in ipairs(all) do grade[i], rows[#rows + 1] = i <= #own and 1 or 0, item end
    grades[user], users[user] = grade, user
  end
  return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }),
    items = mr.tensor(rows, { dtype = "int64" }), name = name }
end

-- A published split, with a tenth of each user's training items for validation.
local function split_fold(folder, items, nsr, number, seed)
  math.randomseed(seed, number)
  local train, test, valid, taken = read_part(folder, number, "train"), read_part(folder, number, "test"), {}, {}
  for user, own in ipairs(train) do
    taken[user], valid[user] = {}, {}
    for _, part in ipairs{ own, test[user] } do
      for _, item in ipairs(part) do taken[user][item] = true end
    end
    for _ = 1, math.max(1, #own // 10) do table.insert(valid[user], table.remove(own, math.random(#own))) end
  end
  return { train = judged(train, nsr, items, taken, "train"), valid = judged(valid, nsr, items, taken, "valid"),
    test = judged(test, nsr, items, taken, "test") }
end

-- CiteULike-a on the two splits that Li et al. (2021) published: 2465 users with 25 articles or more, one negative per article.
local function citeulike(folder)
  local users, items, kept = 2465, 16702, {}
  local place_of = place(folder, "citeulike-a") or find.path "citeulike-a"
  return {
    title = "CiteULike-a", setting = "nsr", values = { 1 }, folds = 2, epochs = 40, size = 32, sizes = { 16, 32, 64 },
    rates = { 0.003, 0.01, 0.03 }, tuning = 1,
    fold = function(nsr, number, seed)
      local key = ("%d %d %d"):format(nsr, number, seed)
      if kept.key ~= key then kept = { key = key, fold = split_fold(place_of, items, nsr, number, seed) } end
      return kept.fold
    end,
    model = function(size, seed) return mr.models.mf{ users = users, items = items, factors = size, init = 0.01, seed = seed } end,
  }
end

local sets = { movielens = movielens, mq2008 = mq2008, citeulike = citeulike }

---@param name "movielens"|"mq2008"|"citeulike"
---@param folder string  that has ml-latest-small, mq2008 and citeulike-a; "": where the program looks for data
---@param smoke boolean  a few made-up lists in place of the data
---@return thesis.Data
function M.open(name, folder, smoke)
  local data = sets[name](folder, smoke)
  if smoke then
    data.values, data.folds, data.tuning, data.epochs, data.sizes = { data.values[1] }, 1, 1, 2, { data.sizes[1], data.size }
  end
  return data
end

return M
