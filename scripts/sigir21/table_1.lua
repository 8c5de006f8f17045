-- Li, Urbano & Hanjalic (2021), Table 1: how many users, items and relevant ratings do the data sets have without
-- users with fewer than 25 relevant items (section 4.1)?
-- Data: CiteULike-a on the authors' own splits and by the paper's rule. MovieLens stands for the paper's graded
-- ratings, because three of the paper's four data sets are not available.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local data = dofile(here .. "data.lua")

-- The numbers of users, items and ratings and the density that Table 1 of the paper prints for each data set.
local published = {
  { title = "CiteULike-a", users = 2465, items = 16702, ratings = 157527, density = 0.00383 },
  { title = "Epinions", users = 4690, items = 32592, ratings = 325154, density = 0.00213 },
  { title = "Sports & Outdoors", users = 9123, items = 119404, ratings = 342311, density = 0.00031 },
  { title = "Home & Kitchen", users = 20531, items = 222472, ratings = 795845, density = 0.00017 },
}

local names = { "citeulike", "citeulike_splits", "movielens" }
local args = mr.args{
  data = { path = "data folder", default = "",
    help = "folder of citeulike-a and ml-latest-small", shown = "where the program looks for data" },
  sets = { default = names, choices = names, distinct = true, help = "which data sets" },
  smoke = { default = false, ignores = { "data" }, help = "made-up ratings in place of the data sets" },
}
args.made_up = args.smoke

-- Returns the number of distinct users or items (`field` is "users" or "items") that occur in train or test of a split.
local function count(fold, field)
  local seen, found = {}, 0
  for _, part in ipairs{ fold.train, fold.test } do
    for _, number in ipairs(part[field]:totable()) do
      found, seen[number] = found + (seen[number] and 0 or 1), true
    end
  end
  return found
end

-- Returns the row of a data set. Train and test of the first split together have all relevant ratings of the data set.
local fingerprints = {}
local function statistics(set)
  local fold = set.fold(set.splits[1], 0, 0)
  fingerprints[#fingerprints + 1] = fold.train.fingerprint
  fingerprints[#fingerprints + 1] = fold.test.fingerprint
  local users, items, ratings = count(fold, "users"), count(fold, "items"), fold.train.lists.rows + fold.test.lists.rows
  return { title = set.title, users = users, items = items, ratings = ratings, density = ratings / (users * items) }
end

local fields, columns, records = { "users", "items", "ratings", "density" }, { { "data", "title" } }, {}
for _, key in ipairs(fields) do
  local format = key == "density" and "%.5f" or "%d"
  columns[#columns + 1] = { key, format = format }
  columns[#columns + 1] = not args.made_up and { key .. ", printed", format = format } or nil
end
for i, name in ipairs(args.sets) do
  records[i] = statistics(data.open(args, name))
  for _, key in ipairs(not args.made_up and name:find "^citeulike" and fields or {}) do
    records[i][key .. ", printed"] = published[1][key]
  end
end
-- The paper prints a density with five decimals, so that rounding changes it by at most 0.000005. Others are counts.
local agreement = mr.experiment.agreement(records, { fields = fields, difference = 0.000005 })

local others = {}
for i = 2, #published do
  local each = published[i]
  others[#others + 1] = ("%s %d, %d, %d"):format(each.title, each.users, each.items, each.ratings)
end
local text = args.made_up and "" or ([[
%sPrinted of data that are not to be had (users, items, ratings): %s.]]):format(agreement
  and ("Of %d printed numbers %d are the computed ones.\n"):format(agreement.of, agreement.within) or "",
  table.concat(others, "; "))
local section = mr.experiment.finish(args, nil, text,
  mr.experiment.table{ columns = columns, records = records, legend = [[
users: with at least 25 relevant items; items: relevant to any of these users; ratings: relevant ones of these users;
density: ratings as a share of users times items.]] })
section.data = fingerprints
if agreement then agreement.tolerance = "rounding" end
section.agreement = agreement
return section
