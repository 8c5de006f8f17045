-- Functions that take a path, as code with %s for the path: those that read a file or folder, and
-- those that write one (with the ending that its name needs).
local M = {}

local adam = "mr.optim.adam{}:bind(mr.models.linear{inputs = 2}:parameters())"
local queries = "mr.data.synthetic{kind = 'queries', queries = 3, features = 2}"
local scored = "mr.data.scored(mr.tensor{1, 2}, mr.lists{{1, 0}})"
local sweep =
  "mr.sweep{name = 's', workers = 0, progress = false, space = {a = mr.range(1, 1)}, run = function() return 1 end, "

M.reads = {
  "mr.data.letor(%s)",
  "mr.data.letor_folds(%s)",
  "mr.data.interactions(%s)",
  "mr.data.interactions({train = text, test = %s}, "
    .. "{header = false, delimiter = ' ', columns = {'user', 'item', false}})",
  "mr.data.movielens(%s)",
  "mr.data.citeulike(%s)",
  "mr.data.scores(%s)",
  "mr.data.trec_run(%s)",
  "mr.data.trec_qrels(%s)",
  "mr.data.csv(%s)",
  "mr.data.synthetic{users = 3, items = 4}:titles(%s)",
  "mr.data.comparisons(%s)",
  "mr.data.item_features(%s)",
  "mr.data.images(%s)",
  "mr.data.images(empty, {labels = %s})",
  "mr.models.load(%s)",
  adam .. ":load(%s)",
  "mr.results(%s)",
  "mr.compare{a = %s, b = " .. scored .. ", qrels = mr.lists{{1, 0}}, metrics = {'ap'}}",
  "mr.compare{a = " .. scored .. ", b = " .. scored .. ", qrels = %s, metrics = {'ap'}}",
  sweep .. "store = empty .. '/r.db', data = %s}",
  "core.read_libraries(%s)",
  "core.read_images({%s}, 2, 2, true)",
  "core.sha256_file(%s)",
}

M.writes = {
  { "mr.models.linear{inputs = 2}:save(%s)", "" },
  { adam .. ":save(%s)", "" },
  { "mr.models.random{}:save(%s)", "" },
  { scored .. ":to_trec_run(%s)", "" },
  { "mr.lists{{1, 0}}:to_qrels(%s)", "" },
  { sweep .. "store = os.tmpname() .. '.db'}:to_optuna(%s)", "" },
  { "mr.plot.lines{y = {1, 2}}:save(%s)", ".svg" },
  { "mr.plot.lines{y = {1, 2}}:save(%s)", ".png" },
  { "mr.plot.lines{y = {1, 2}}:save(%s)", ".pdf" },
  { "mr.profile(function() return mr.ones(2) + 1 end, {quiet = true, trace = %s})", "" },
  { "mr.checkpoint(%s, {a = 1}, function() return {x = mr.ones(2)} end)", "" },
  { "mr.fit{model = mr.models.linear{inputs = 2}, loss = mr.losses.ndcg{}, epochs = 1, progress = false, train = "
    .. queries .. ", checkpoint = %s}", "" },
  { sweep .. "store = %s}", "" },
  { "mr.data.drawn_faces{count = 1}:save(%s)", "", folder = true },
  { "require 'moonrank.manual'.write(%s)", "", folder = true },
}

return M
