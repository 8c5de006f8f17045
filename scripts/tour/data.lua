-- Returns a function that opens the data of this tour's scripts: --data FILE.csv with the columns user, item and
-- timestamp, or made-up readers and books. Each user's last item is the test part, the item before it validation.
-- The function's arguments are `nsr`, the number of sampled negatives per relevant item, and `more`, further options
-- of the script. It returns option values, ratings, fold and a title.
local mr = require "moonrank"

-- Writes a CSV file of made-up interactions and returns its path. Users and items are text, times are in seconds.
local function made_up()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 120, items = 300, mean_activity = 40, seed = 1 }
  local user, item, value = ratings.user:totable(), ratings.item:totable(), ratings.value:totable()
  local time, rows = (mr.uniform({ ratings.rows }, { seed = 2, dtype = "float64" }) * 1e8):totable(), {}
  for i = 1, ratings.rows do
    if value[i] >= 4 then
      rows[#rows + 1] = { "reader-" .. user[i], "book-" .. item[i], 1600000000 + math.floor(time[i]) }
    end
  end
  local path = "results/tour/interactions.csv"
  mr.experiment.write(path, mr.table{ columns = { "user", "item", "timestamp" }, rows = rows }:to_csv())
  return path
end

return function(nsr, more)
  more.data = { path = "file", type = "string", help = "CSV of user, item, timestamp", shown = "made up" }
  more.epochs = { default = 20, least = 1, help = "passes over the training part" }
  more.smoke = { default = false, sets = { epochs = 2 }, ignores = { "data" },
    help = "made-up data, to see that it runs" }
  local args = mr.args(more)
  local ratings = mr.data.interactions(args.data or made_up()):binarize(1):min_relevant(5)
  local title = args.data or "made-up readers and books"
  return args, ratings, ratings:folds{ by = "last", nsr = nsr, seed = 1 }[1], title
end
