-- Reads the data of an experiment from the folder of --data, or makes up data under --smoke.
local mr = require "moonrank"
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"

local M = {}

---Returns the path of a data set's folder: in the folder of --data, or the name alone, which the
---functions of `mr.data` look for in the program's usual places.
---@param args table  option values, as from `mr.experiment.args`
---@param name string  such as "ml-latest-small"
---@return string
---Example: `mr.experiment.place({data = "sets"}, "mq2008")   --> sets/mq2008`
function M.place(args, name)
  given.need("place", "args", args, "table", "option values, as from mr.experiment.args")
  given.need("place", "name", name, "string", "the name of a folder: 'mq2008'")
  local folder = rawget(args, "data") or ""
  given.need("place", "args.data", folder, "string", "a folder: 'sets'")
  return folder ~= "" and folder .. "/" .. name or name
end

local queries_options = declare("mr.experiment.QueriesOptions", {
  { "features", "integer", least = 1, shown = "those of the files; 20 if made up",
    help = "number of features of a document" },
  { "valid", "number", above = 0, below = 1, shown = "that of mr.data.letor_folds",
    help = "share of the training queries for validation, if folds have no part for it" },
  { "queries", "integer", least = 8, default = 90, help = "number of queries, if they are made up" },
  { "mean_size", "integer", least = 1, default = 8, help = "mean number of documents of a made-up query" },
})

---Returns the published folds of queries (mr.data.letor_folds) that a folder has. Under --smoke it
---returns one fold of made-up queries instead: a quarter of them for test, and a quarter of the rest for
---validation.
---@param args table  option values, as from `mr.experiment.args`
---@param folder string  such as "mq2008", in the folder of --data or where the program looks for data
---@param o? mr.experiment.QueriesOptions
---@return mr.Fold[]
---Example:
---```lua
---local args = mr.experiment.args({}, {document = "example"}, {"--smoke"})
---local fold = mr.experiment.queries(args, "mq2008", {features = 46})[1]
---fold.train.features:size(2), #fold.train, #fold.valid, #fold.test   --> 46, 50, 17, 23
---```
function M.queries(args, folder, o)
  given.need("queries", "args", args, "table", "option values, as from mr.experiment.args")
  given.need("queries", "folder", folder, "string", "the name of a folder: 'mq2008'")
  o = queries_options:read("mr.experiment.queries", o)
  if not rawget(args, "made_up") and not rawget(args, "smoke") then
    return mr.data.letor_folds(M.place(args, folder), { features = o.features, valid = o.valid })
  end
  local all = mr.data.synthetic{ kind = "queries", queries = o.queries, features = o.features or 20,
    mean_size = o.mean_size }
  local rest, test = all:split{ share = 0.25 }
  local train, valid = rest:split{ share = 0.25 }
  return { mr.data.fold{ train = train, valid = valid, test = test, name = "made-up queries" } }
end

return M
