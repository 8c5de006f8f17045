-- Writes made-up data into files and folders with the names of real data sets.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = {}

---Folds of queries in LETOR's format: fold f has three training, two validation and f + 1 test queries. Each has four
---documents with labels 0 to 3.
---@param folder string  is made
---@param folds integer
function M.queries(folder, folds)
  for f = 1, folds do
    for part, count in pairs{ train = 3, vali = 2, test = f + 1 } do
      local lines = {}
      for query = 1, count do
        for label = 0, 3 do
          lines[#lines + 1] = ("%d qid:%d 1:%d 2:%g"):format(label, 100 * f + query, label * query, (7 * label + f) % 5)
        end
      end
      local path = ("%s/Fold%d/%s.txt"):format(folder, f, part)
      core.make_folder(path)
      core.write_file(path, table.concat(lines, "\n") .. "\n")
    end
  end
end

---Ratings in the files of MovieLens.
---@param folder string  of data
---@param o? table       as in mr.data.synthetic
---@return mr.Ratings
function M.movielens(folder, o)
  local all = { kind = "ratings", users = 30, items = 120, mean_activity = 60 }
  for name, value in pairs(o or {}) do all[name] = value end
  local r, lines = mr.data.synthetic(all), { "userId,movieId,rating" }
  local users, items, values = r.user:totable(), r.item:totable(), r.value:totable()
  for i = 1, #users do lines[i + 1] = ("%d,%d,%g"):format(users[i], items[i], values[i]) end
  local path = folder .. "/ml-latest-small/ratings.csv"
  core.make_folder(path)
  core.write_file(path, table.concat(lines, "\n") .. "\n")
  return mr.data.movielens(folder .. "/ml-latest-small")
end

return M
