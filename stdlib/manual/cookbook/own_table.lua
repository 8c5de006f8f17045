-- How do I read my own table of interactions?
-- `mr.data.interactions` reads a CSV file with the columns user, item, rating and timestamp. The option `columns`
-- says which other names your columns have. Users and items may be any text.
local mr = require "moonrank"
do
  local file <close> = assert(io.open("reads.csv", "w"))
  file:write [[
reader,book,stars,when
ann,Emma,5,1600000000
ann,Ulysses,2,1600000100
bob,Emma,4,1600000200
]]
end
local ratings = mr.data.interactions("reads.csv",
  { columns = { user = "reader", item = "book", rating = "stars", timestamp = "when" } })
print(ratings.users, ratings.items, ratings.rows)
print(ratings.user_ids[2], ratings.item_ids[1], ratings.timestamp:totable()[3])
--> 2	2	3
--> bob	Emma	1600000200
