-- Li, Urbano & Hanjalic (2021), Table 1: how many users, items and relevant ratings do the data sets have without
-- users with fewer than 25 relevant items (section 4.1)?
-- The table has CiteULike-a on the authors' own splits and by the paper's rule. MovieLens stands for the paper's
-- graded ratings, because three of the paper's four data sets are not available.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local data, published = dofile(here .. "data.lua"), dofile(here .. "published.lua")

local names = { "citeulike", "citeulike_splits", "movielens" }
local args = mr.args{
  data = { path = "data folder", default = "",
    help = "folder of citeulike-a and ml-latest-small", shown = "where the program looks for data" },
  sets = { default = names, choices = names, distinct = true, help = "which data sets" },
  smoke = { default = false, ignores = { "data" }, help = "made-up ratings in place of the data sets" },
}
args.folder, args.made_up = "", args.smoke

-- Counts users, items and relevant ratings over train and test of a data set's first split. The density is the
-- number of ratings divided by users times items.
local function statistics(set)
  local fold, users, items, ratings = set.fold(set.splits[1], 0, 0), {}, {}, 0
  for _, part in ipairs{ fold.train, fold.test } do
    for _, user in ipairs(part.users:totable()) do users[user] = true end
    for _, item in ipairs(part.items:totable()) do items[item] = true end
    ratings = ratings + part.lists.rows
  end
  local function count(seen)
    local n = 0
    for _ in pairs(seen) do n = n + 1 end
    return n
  end
  local found = { users = count(users), items = count(items), ratings = ratings }
  found.density = ratings / (found.users * found.items)
  return found
end

local keys, rows, compared, same = { "users", "items", "ratings", "density" }, {}, 0, 0
for _, name in ipairs(args.sets) do
  local set = data.open(args, name)
  local line, found = { set.title }, statistics(set)
  local printed = not args.made_up and name:find "^citeulike" and published.table_1[1] or {}
  for _, key in ipairs(keys) do
    line[#line + 1] = found[key]
    if not args.made_up then line[#line + 1] = printed[key] or "" end
    -- the paper prints a density with five decimals, so that rounding changes it by at most 0.000005
    local equal = printed[key] and math.abs(found[key] - printed[key]) <= (key == "density" and 0.000005 or 0)
    compared, same = compared + (printed[key] and 1 or 0), same + (equal and 1 or 0)
  end
  rows[#rows + 1] = line
end

local columns, formats = { "data" }, {}
for _, key in ipairs(keys) do
  columns[#columns + 1] = key
  formats[key] = key == "density" and "%.5f" or "%d"
  if not args.made_up then
    columns[#columns + 1] = key .. ", printed"
    formats[columns[#columns]] = formats[key]
  end
end
local others = {}
for i = 2, #published.table_1 do
  local each = published.table_1[i]
  others[#others + 1] = ("%s %d, %d, %d"):format(each.title, each.users, each.items, each.ratings)
end
local printed_text = ([[
Of %d printed numbers %d are the computed ones.
Printed of data that are not to be had (users, items, ratings): %s.]]):format(compared, same,
  table.concat(others, "; "))
local section = mr.experiment.finish(args, nil, args.made_up and "" or printed_text, mr.experiment.named("",
  mr.table{ columns = columns, rows = rows,
  formats = formats }, nil, [[
users: with at least 25 relevant items; items: relevant to any of these users; ratings: relevant ones of these users;
density: ratings as a share of users times items.]]))
section.agreement = compared > 0 and { of = compared, within = same, tolerance = "rounding" } or nil
return section
