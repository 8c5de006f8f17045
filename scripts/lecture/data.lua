-- Opens the data sets of the lecture's scripts, or made-up data if --smoke is given.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"

local M = {}

---Returns the path of a data set: in the folder given by --data, or its bare name, which the
---program then looks for.
---@param args { data: string }
---@param name string
---@return string
function M.place(args, name) return args.data ~= "" and args.data .. "/" .. name or name end

---Returns MovieLens ratings with all their values, or made-up ratings, and the title of the data.
---@param args { data: string, smoke: boolean }
---@return mr.Ratings, string
function M.ratings(args)
  if args.smoke then
    return mr.data.synthetic{
      kind = "ratings",
      users = 60,
      items = 300,
      mean_activity = 50,
      noise = 0.3 }, "made-up ratings"
  end
  return mr.data.movielens(M.place(args, "ml-latest-small")), "MovieLens"
end

local function made_up_queries()
  local folds = {}
  for number = 1, 2 do
    local all = mr.data.synthetic{
      kind = "queries",
      queries = 130,
      features = 6,
      mean_size = 12,
      noise = 0.5,
      seed = number }
    local rest, test = all:split{ share = 0.3, seed = number }
    local train, valid = rest:split{ share = 0.2, seed = number }
    folds[number] = fold.new{
      train = train,
      valid = valid,
      test = test,
      number = number,
      k = 2,
      title = "made-up queries" }
  end
  return folds
end

---Returns the folds of MQ2008 with graded documents, or of made-up queries, and the title of the
---data.
---@param args { data: string, smoke: boolean }
---@return mr.Fold[], string
function M.queries(args)
  if args.smoke then return made_up_queries(), "made-up queries" end
  return mr.data.letor_folds(M.place(args, "mq2008")), "MQ2008"
end

return M
