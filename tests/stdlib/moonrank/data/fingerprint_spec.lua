-- Tests data fingerprints: equal for equal contents, different for different steps, and equal to a digest computed in
-- Lua.
local mr = require "moonrank"
local core = require "moonrank.core"
local fingerprint = require "moonrank.data.fingerprint"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

-- Returns the expected fingerprint, computed from dtype, shape and the digests of pieces of one MiB.
local function by_hand(head, bytes)
  local digests = {}
  for first = 1, #bytes, 1 << 20 do digests[#digests + 1] = core.sha256(bytes:sub(first, first + (1 << 20) - 1)) end
  return core.sha256(head .. table.concat(digests))
end

local function packed(values, format)
  local parts = {}
  for i, x in ipairs(values) do parts[i] = string.pack("<" .. format, x) end
  return table.concat(parts)
end

describe("core.fingerprint_of_tensor", function()
  it("is the SHA-256 of dtype, shape and pieces, for any number of threads", function()
    local n = 300000  -- 2.4 MB, hashed as three pieces of at most one MiB
    local many = {}
    for i = 1, n do many[i] = string.pack("<d", i) end
    local cases = {
      { mr.tensor{ 1.5, -2, 0 }, by_hand("float32 {3}", packed({ 1.5, -2, 0 }, "f")) },
      { mr.tensor({ 7, -1 }, { dtype = "int64" }), by_hand("int64 {2}", packed({ 7, -1 }, "i8")) },
      { mr.arange(1, n, { dtype = "float64" }), by_hand(("float64 {%d}"):format(n), table.concat(many)) },
    }
    local before = core.threads()
    for threads = 1, 3 do
      core.threads(threads)
      for _, case in ipairs(cases) do equal(core.fingerprint_of_tensor(case[1]), case[2], case[1].dtype) end
    end
    core.threads(before)
  end)

  it("differs between shapes, dtypes and slices", function()
    local x = mr.tensor{ 1, 2, 3, 4, 5, 6 }
    local seen = {}
    for _, each in ipairs{ x, x:reshape(2, 3), x:double(), x:narrow(1, 1, 3), x:narrow(1, 4, 3), mr.zeros(0) } do
      local found = core.fingerprint_of_tensor(each)
      check(not seen[found], tostring(each))
      seen[found] = true
    end
    equal(core.fingerprint_of_tensor(x:narrow(1, 4, 3)), core.fingerprint_of_tensor(mr.tensor{ 4, 5, 6 }))
  end)
end)

local function ratings(change)
  local o = { kind = "ratings", users = 30, items = 120, mean_activity = 40, seed = 5 }
  for name, value in pairs(change or {}) do o[name] = value end
  return mr.data.synthetic(o)
end

-- Returns a fold of ratings. `change` replaces options of the steps that make it.
local function fold_of(change)
  local o = { threshold = 4, least = 5, k = 4, number = 1, seed = 2, nsr = 1, valid = 0.1, data = {} }
  for name, value in pairs(change or {}) do o[name] = value end
  local liked = ratings(o.data):binarize(o.threshold):min_relevant(o.least)
  return liked:folds{ k = o.k, seed = o.seed, nsr = o.nsr, valid = o.valid }[o.number]
end

describe("data fingerprints", function()
  it("of folds are equal if the fold is made again and differ if any step differs", function()
    local first = fold_of()
    equal(first.fingerprint, fold_of().fingerprint)
    equal(#first.fingerprint, 16)
    check(first.fingerprint:find "^%x+$" ~= nil)
    local seen = { [first.fingerprint] = "as it is" }
    for _, change in ipairs{ { threshold = 3 }, { least = 20 }, { k = 5 }, { number = 2 }, { seed = 3 }, { nsr = 2 },
      { valid = 0.3 }, { data = { seed = 6 } }, { data = { noise = 0.5 } } } do
      local found, name = fold_of(change).fingerprint, next(change)
      check(not seen[found], ("%s is like %s"):format(name, tostring(seen[found])))
      seen[found] = name
    end
  end)

  it("of ratings depend on values, ids and filters, not on file name or compression", function()
    local folder = sweeps.new_folder()
    local function read(name, text)
      sweeps.write(folder .. "/" .. name, text)
      return mr.data.interactions(folder .. "/" .. name)
    end
    local text = "user,item,rating\n1,10,5\n1,11,2\n2,10,4\n"
    local first = read("a.csv", text)
    equal(first.fingerprint, read("b.csv", text).fingerprint)
    os.execute("gzip -k " .. folder .. "/a.csv")
    equal(first.fingerprint, mr.data.interactions(folder .. "/a.csv.gz").fingerprint)
    local seen = { [first.fingerprint] = true, [first:min_relevant(2).fingerprint] = true,
      [first:binarize(4).fingerprint] = true }
    local texts = { text:gsub("11,2", "11,3"), text:gsub("11", "12"), text:gsub("2,10,4\n", ""),
      text:gsub("\n2,", "\n3,") }
    for _, other in ipairs(texts) do
      local found = type(other) == "string" and read("c.csv", other).fingerprint
      check(not found or not seen[found], tostring(other))
      if found then seen[found] = true end
    end
  end)

  it("of datasets depend on lists, ids, features and transforms, not on name or device", function()
    local function queries(seed)
      return mr.data.synthetic{ kind = "queries", queries = 20, features = 4, seed = seed }
    end
    local first, seen = queries(1), {}
    equal(first.fingerprint, queries(1).fingerprint)
    equal(first:to("cpu").fingerprint, first.fingerprint)
    local renamed = mr.data.dataset{ lists = first.lists, features = first.features, name = "other" }
    equal(renamed.fingerprint, first.fingerprint)
    local others, part = first:split{ share = 0.3, seed = 1 }
    local _, part2 = first:split{ share = 0.3, seed = 2 }
    for i, each in ipairs{ first, queries(2), first:binarize(1), first:binarize(2), first:standardize(), others,
      part, part2, mr.data.dataset{ lists = first.lists },
      mr.data.dataset{ lists = first.lists, features = first.features * 2 } } do
      check(not seen[each.fingerprint], "dataset " .. i)
      seen[each.fingerprint] = true
    end
    -- changes that a script makes to features are in the fingerprint, even if it was computed before
    first.features = first.features + 1
    check(not seen[first.fingerprint], "changed features")
    local function named(ids)
      return mr.data.dataset{ lists = mr.lists{ relevance = mr.tensor{ 1, 0, 1 }, ids = ids } }
    end
    check(named{ "a", "a", "bc" }.fingerprint ~= named{ "aa", "aa", "c" }.fingerprint, "names")
  end)

  it("are nil for values that are not data", function()
    equal({ fingerprint.of(3), fingerprint.of{}, fingerprint.of "x", fingerprint.of(mr.tensor{ 1 }) }, {})
    check(fingerprint.of(mr.lists{ { 1, 0 } }) ~= fingerprint.of(mr.lists{ { 0, 1 } }))
    local combined = fingerprint.combined
    check(combined("a", "b") ~= combined("ab", "") and combined(1) ~= combined("1"))
  end)
end)

it("mr.fit records data fingerprints, and mr.checkpoint compares data by fingerprint", function()
  local fold = fold_of()
  local function fit(options)
    local r = ratings()
    return mr.fit{ model = mr.models.mf{ users = r.users, items = r.items, factors = 2, seed = 1 },
      loss = mr.losses.ap(), train = fold.train, valid = options.valid, test = options.test,
      epochs = 1, metrics = { "ap" }, progress = false }
  end
  equal(fit{ valid = fold.valid, test = fold.test }.data,
    { train = fold.train.fingerprint, valid = fold.valid.fingerprint, test = fold.test.fingerprint })
  equal(fit{}.data, { train = fold.train.fingerprint })
  local path = os.tmpname() .. "_folder/c.safetensors"
  local function compute() return { x = mr.tensor{ 1 } } end
  mr.checkpoint(path, { data = fold, seed = 1 }, compute)
  local _, there = mr.checkpoint(path, { data = fold_of(), seed = 1 }, compute)
  check(there, "the same data made again")
  raises(function() mr.checkpoint(path, { data = fold_of{ seed = 9 }, seed = 1 }, compute) end,
    "data", fold.fingerprint)
end)

it("data fingerprints depend on the probabilities with which rows were drawn", function()
  local lists = mr.lists{ { 1, 0 }, { 0, 1 } }
  local function fingerprint_of(q)
    return mr.data.dataset{ lists = q and lists:drawn(mr.tensor(q)) or lists, features = mr.zeros{ 4, 2 } }.fingerprint
  end
  local found = fingerprint_of{ 0.5, 0.5, 0.25, 0.25 }
  equal(found, fingerprint_of{ 0.5, 0.5, 0.25, 0.25 })
  check(found ~= fingerprint_of{ 0.5, 0.5, 0.25, 0.5 })
  check(found ~= fingerprint_of())
end)

it("data fingerprints change when an optimizer changes the features", function()
  local x, lists = mr.zeros({ 4, 2 }):requires_grad(), mr.lists{ { 1, 0 }, { 0, 1 } }
  local data = mr.data.dataset{ lists = lists, features = x }
  local before, optimizer = data.fingerprint, mr.optim.sgd{ lr = 1 }:bind{ x }
  x:sum():backward()
  optimizer:step()
  check(data.fingerprint ~= before)
  equal(data.fingerprint, mr.data.dataset{ lists = lists, features = x:detach() }.fingerprint)
end)
