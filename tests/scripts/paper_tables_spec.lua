-- Tests tables of papers that need no training: the scripts must print the numbers that are computed by hand here.
local mr = require "moonrank"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local program, in_process = dofile "tests/support/program.lua", dofile "tests/support/in_process.lua"
local check, equal, near = test.check, test.equal, test.near

-- Returns the cells that follow `pattern` in one printed line; numbers become numbers.
local function numbers(text, pattern)
  local found = {}
  local line = assert(text:match("\n" .. pattern .. " +([^\n]+)"), pattern)
  for word in line:gmatch "%S+" do found[#found + 1] = tonumber(word) or word end
  return found
end

scripts.it("tables_2.lua shows gains by rank, sums and values, and meets all printed numbers", {}, function(folder)
  local out = scripts.run(folder, "thesis/tables_2.lua")
  near(numbers(out, "2%.2 +DCG +worst +rank 8")[1], 1 / math.log(9, 2), 5e-5)
  near(numbers(out, "2%.2 +DCG +ideal +sum")[1], 1 + 1 / math.log(3, 2) + 1 / 2, 5e-5)
  near(numbers(out, "2%.3 +RBP +worst +rank 7")[1], 0.7 ^ 6, 5e-5)
  near(numbers(out, "2%.3 +RBP +ideal +RBP")[1], 1 - 0.7 ^ 3, 5e-5)
  near(numbers(out, "2%.4 +AP +worst +sum")[1], 1 / 7 + 2 / 8 + 3 / 9, 5e-5)
  near(numbers(out, "2%.4 +AP +worst +AP")[1], (1 / 7 + 2 / 8 + 3 / 9) / 3, 5e-5)
  check(out:find("Of 62 printed numbers 62 are", 1, true), out)
end)

scripts.it("tables_3.lua shows every order, the mean and the closed form, and meets all printed numbers",
  {}, function(folder)
  local out = scripts.run(folder, "thesis/tables_3.lua")
  near(numbers(out, "3%.1 +DCG +X%(3,2%) +mean")[1], 2 / 3 * (1 + 1 / math.log(3, 2) + 1 / 2), 5e-6)
  near(numbers(out, "3%.1 +DCG +X%(3,2%) +closed form")[1], 2 / 3 * (1 + 1 / math.log(3, 2) + 1 / 2), 5e-6)
  near(numbers(out, "3%.2 +nRBP loss, first part +X%(3,2%) +0 1 1")[1], 1 + 2, 0)
  near(numbers(out, "3%.2 +nRBP loss, first part +X%(2,1%) +mean")[1], 1 / 2, 0)
  near(numbers(out, "3%.3 +AP +X%(3,2%) +closed form")[1], 29 / 36, 5e-6)
  check(out:find("Of 24 printed numbers 24 are", 1, true), out)
end)

scripts.it("sigir21/table_1.lua counts users with 25 relevant items, their items and their ratings",
  {}, function(folder)
  local out = scripts.run(folder, "sigir21/table_1.lua", "--smoke --sets citeulike")
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = 1 }
  local of_user, items, value = {}, ratings.item:totable(), ratings.value:totable()
  for i, user in ipairs(ratings.user:totable()) do
    of_user[user] = of_user[user] or {}
    if value[i] >= 4 then table.insert(of_user[user], items[i]) end
  end
  local users, different, count, seen = 0, 0, 0, {}
  for _, own in pairs(of_user) do
    for _, item in ipairs(#own >= 25 and own or {}) do
      different, seen[item] = different + (seen[item] and 0 or 1), true
    end
    if #own >= 25 then users, count = users + 1, count + #own end
  end
  local found = numbers(out, "made%-up ratings for citeulike")
  equal({ found[1], found[2], found[3] }, { users, different, count })
  near(found[4], count / (users * different), 5e-6)
  check(not out:find("printed", 1, true), out)
end)

test.it("sigir21/table_1.lua counts the printed numbers of CiteULike-a that are met, a density to five decimals",
  function()
  -- Ratings with as many users (2465) and items (16702) as printed. Only the test part has the last two items. One item
  -- fewer changes neither the number of ratings nor the first five decimals of the density.
  local function fold_of(items)
    local function part(first, last)
      local users, of_items = {}, {}
      for rating = first, last do
        users[#users + 1], of_items[#of_items + 1] = rating % 2465, math.min(rating % 16702, items - 1)
      end
      return { users = mr.tensor(users), items = mr.tensor(of_items), lists = { rows = #users } }
    end
    return { train = part(1, 157525), test = part(157526, 157527) }
  end
  local printed = { 2465, 16702, 157527, 0.00383 }
  for items, within in pairs{ [16702] = 4, [16701] = 3, [16600] = 2 } do
    local section = in_process.section("scripts/sigir21/table_1.lua", { "--sets", "citeulike,movielens" }, {
      data = function(data)
        rawset(data, "open", function(_, name)
          return { title = name, splits = { 0 }, fold = function() return fold_of(items) end }
        end)
      end })
    local found = { 2465, items, 157527, 157527 / (2465 * items) }
    for i, name in ipairs{ "users", "items", "ratings", "density" } do
      local values = section.tables[1]:column(name)
      near({ values[1], values[2] }, { found[i], found[i] }, 1e-12)
      equal(section.tables[1]:column(name .. ", printed"), { printed[i] })
    end
    equal({ section.agreement.of, section.agreement.within }, { 4, within }, items .. " items")
  end
end)

scripts.it("sigir21/table_1.lua meets the printed numbers of CiteULike-a, by splits and by rule", {}, function(folder)
  if not program.has_data "citeulike-a" then return test.skip "no CiteULike-a in MOONRANK_DATA or ../shared/data" end
  local data = os.getenv "MOONRANK_DATA" or scripts.root .. "/../shared/data"
  local words = ("--sets citeulike,citeulike_splits --data '%s'"):format(data)
  local out = scripts.run(folder, "sigir21/table_1.lua", words)
  check(out:find("Of 8 printed numbers 8 are", 1, true), out)
end)
