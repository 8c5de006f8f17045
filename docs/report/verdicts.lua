-- Verdicts on the claims of the documents and on expectations of this project. Each claim has a function that computes
-- from the table of a section whether the claim holds. A report begins with these verdicts (report.lua).
-- A difference counts as significant if its p-value is below 0.05, corrected by Holm where the script corrects it.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local results_file, claims = dofile(here .. "results_file.lua"), dofile(here .. "claims.lua")

local M = {}

-- Returns the verdict on a claim that was tested in `of` cases and holds in `count` of them. `against` is the number of
-- cases in which the opposite is shown. Without it, every case in which the claim does not hold refutes it.
local function holds_in(count, of, against)
  against = against or of - count
  if count == of then return of == 1 and "holds" or ("holds in all %d cases"):format(of) end
  if against == of then return "does not hold" end
  local more = count + against < of and against > 0 and (", the opposite in %d"):format(against) or ""
  if count > 0 then return ("holds in %d of %d cases%s"):format(count, of, more) end
  return "not shown" .. more
end

-- Returns the verdict on a claim that changes are positive.
local function gains(changes, ps)
  local better, worse, of = claims.significant(changes, ps)
  return holds_in(better, of, worse)
end

-- Returns the number of values for which `is_so(value)` is true.
local function count(values, is_so)
  local found = 0
  for _, value in ipairs(values) do found = found + (is_so(value) and 1 or 0) end
  return found
end

local function share(values, is_so) return holds_in(count(values, is_so), #values) end

-- Returns the verdict on a claim that every change of the table is positive.
local function all_gain(t) return gains(t.joined{}) end

-- Returns the verdict on a claim that affine bounds improve nRBP. Other bounds are not affine.
local function affine_gain(t)
  return gains(t.joined{ rows = { "; nRBP; minmax$", "; nRBP; expectation$", "; nRBP; expectation_max$" } })
end

-- The exact distribution leaves almost no list without a gradient. If it loses nDCG all the same, lists without a
-- gradient are not the reason.
local function silence_explains(t)
  local row = "NSR 1; distribution, exact"
  if t(row, "silent at start") >= 0.05 then return "not shown" end
  return t(row, "p, Holm") < 0.05 and t(row, "change") < 0 and "does not hold" or "not shown"
end

local function own_bound(t)
  local found = t.all("", "the claim", "The claim")
  local function of(verdict) return count(found, function(each) return each == verdict end) end
  return holds_in(of "holds", #found, of "contradicted")
end

-- Returns the verdict on the claim that nRBP at other persistences shows the same effects of bounds as nRBP(0.95): the
-- changes of a loss by bounds must correlate at 0.9 or more.
local function same_view(t)
  return share(t.all("nRBP%(0%.[89]%)$", "correlation", "Agreement with 0.95"), function(r) return r >= 0.9 end)
end

local function curves(t)
  local whole = "The change of nDCG@k from k = 1 to 10, taken apart"
  local of_k, of_fewer = t.all("", "by lists with k", whole), t.all("", "by lists with fewer", whole)
  local below, above = count(of_k, function(x) return x < 0 end), count(of_fewer, function(x) return x > 0 end)
  return holds_in(below + above, #of_k + #of_fewer)
end

-- Returns the verdict on a claim that two methods do not differ. It counts significant differences in either direction.
local function exact_differs(t)
  local ps = t.all("", "p, Holm")
  return holds_in(count(ps, function(p) return p < 0.05 end), #ps, 0)
end

local function as_printed(t)
  local met, of = 0, 0
  for _, column in ipairs{ "users", "items", "ratings" } do
    local printed, names = t.all("", column .. ", printed")
    for i, name in ipairs(names) do met, of = met + (t(name, column) == printed[i] and 1 or 0), of + 1 end
  end
  return holds_in(met, of)
end

local function near_published(t)
  local near, names = t.all("", "nDCG near", "Models near the published ones, by loss")
  local met, of = 0, 0
  for i, name in ipairs(names) do met, of = met + near[i], of + t(name, "models") end
  return holds_in(met, of)
end

-- Returns the verdict on the claim that other objectives beat squared error, on MQ2008 and the MSLR slice together.
local function objectives_gain(t)
  local chosen = ": what was chosen, nDCG, and its change against MseNetBatched"
  return gains(t.joined{ tables = { "MQ2008" .. chosen, "MSLR slice" .. chosen }, p = "p" })
end

local function squared_error_fails(t)
  local whole = "MSLR slice: nDCG with labels + 1, precision and mean average precision"
  local random = t("random order; mean over all orders", "nDCG+1", whole)
  return share(t.all("^MseNet.*; as meant$", "nDCG+1", whole), function(ndcg) return ndcg < random end)
end

local function worked(t)
  local printed, names = t.all("", "printed")
  local near = 0
  for i, name in ipairs(names) do
    local digits = #(tostring(printed[i]):match "%.(%d+)" or "")
    near = near + (math.abs(t(name, "computed") - printed[i]) <= 0.5 * 10 ^ -digits + 1e-9 and 1 or 0)
  end
  return holds_in(near, #names)
end

local function predicts_and_recommends(t)
  local learned, rated, column = "biased MF, squared errors", "most rated", "recall(10), all items"
  if t(learned, "RMSE") >= t("movie mean", "RMSE") then return "not shown" end
  return holds_in(t(learned, column) > t(rated, column) and 1 or 0, 1)
end

-- Returns the verdict on the claim that classifiers beat rankers of the same family (linear, boosting, network), which
-- are trained alike, on each data set.
local function classifiers_gain(t)
  return gains(t.joined{ change = "a - b",
    rows = { "Class LR; Rank LR$", "Class Boost; LambdaMART$", "Class NN %(Adam.*; RankNet %(Adam" } })
end

local function classifiers_behind(t)
  local rankers, classifiers = t.all("^ranking; ", "by score"), t.all("^classification; ", "by score")
  return holds_in(math.max(table.unpack(classifiers)) < math.min(table.unpack(rankers)) and 1 or 0, 1)
end

local function grid_gains(t)
  local better, worse, of = 0, 0, 0
  for _, cell in ipairs(t.all("", "losses", "Changes by bound")) do
    local up, down, all = cell:match "%+(%d+) %-(%d+) of (%d+)"
    if up then better, worse, of = better + up, worse + down, of + all end
  end
  return holds_in(better, of, worse)
end

local function is_yes(value) return value == "yes" end
local function all_equal(t) return share(t.all("", "equal"), is_yes) end
local function near_printed(t) return share(t.all("", "difference"), function(x) return math.abs(x) <= 0.01 end) end
local function profit_gains(t) return gains(t.joined{ rows = { "; profit$" } }) end

---Claims by document, each as {results file of the section, claim, function that returns the verdict}. The
---function gets the reader of the section's cells (claims.lua).
---@type table<string, { [1]: string, [2]: string, [3]: fun(t: table): string }[]>
M.claims = {
  thesis = {
    { "table_5_1", "On MovieLens our numbers lie within 0.01 of the printed ones", near_printed },
    { "table_5_1", "Bounding improves the loss's own metric on MovieLens", all_gain },
    { "table_5_1", "Min-max, expectation and expectation-max bounds improve nRBP on MovieLens", affine_gain },
    { "table_5_1_mq2008", "Bounding improves the loss's own metric on MQ2008", all_gain },
    { "table_5_1_nrbp", "nRBP(0.8) and nRBP(0.9) show what nRBP(0.95) shows (correlation at least 0.9)",
      same_view },
    { "claim_movielens_mq2008", "The logit of the distribution is better than no bound and the published bounds",
      own_bound },
    { "why_distribution_fails", "Lists without a gradient are the only reason why the distribution bound loses nDCG",
      silence_explains },
    { "why_curves_differ", "As k grows, lists with k relevant rows lower nDCG@k, and lists with fewer raise it",
      curves },
    { "sampled_expectations", "Sampled expectations train other models than exact ones", exact_differs },
    { "nsr_shift", "More negatives in training than in test improve the model", all_gain },
    { "other_data_mslr_clueweb", "Bounding improves the loss's own metric on MSLR and ClueWeb09", all_gain },
    { "tables_2", "The worked Tables 2.2 to 2.4 are correct", all_equal },
    { "tables_3", "The worked Tables 3.1 to 3.3 are correct", all_equal },
  },
  sigir21 = {
    { "table_1", "CiteULike-a has the printed numbers of users, items and ratings", as_printed },
    { "citeulike", "Listwise losses, trained as published, have the published nDCG", near_published },
    { "citeulike_recipes_published_lambda", "LambdaRank, trained as published, has the published nDCG",
      near_published },
  },
  objectives = {
    { "differences", "Ranking objectives are better than squared error", objectives_gain },
    { "table_1_code", "Squared error ranks worse than a random order", squared_error_fails },
  },
  lecture = {
    { "worked_numbers", "The worked numbers are correct", worked },
    { "cremonesi", "Biased factors, which predict ratings better than means, recommend better than popularity",
      predicts_and_recommends },
    { "profit", "Training on profit earns more than training on relevance", profit_gains },
  },
  cmu = {
    { "differences", "Classifiers rank web queries better than rankers of their family", classifiers_gain },
    { "table_2", "Every classifier orders pairs of faces worse than every ranker, both by their scores",
      classifiers_behind },
  },
  grid = { { "grid", "Bounding improves the loss's own metric", grid_gains } },
}

---A verdict on a claim.
---@class scripts.Verdict
---@field claim string
---@field verdict string  "holds", "holds in 8 of 9 cases", "does not hold", "not shown" or "not made"

-- Returns the verdict on one claim, from the tables of a section. If it cannot be computed, prints why.
local function judged(section, claim, verdict)
  local ok, said = pcall(function()
    return verdict(claims.reader(section.title, results_file.cells(results_file.lines(section))))
  end)
  if ok then return said end
  print(("No verdict on %q: %s"):format(claim, said))
  return "not made"
end

---Returns the verdicts on the claims that a section of a report decides. A verdict is "not made" if the
---section failed or lacks training runs, or if it lacks a row that the claim is about, because other
---data were asked for.
---@param document string  short name, such as "thesis"
---@param section report.Section  as sections.run returns
---@return scripts.Verdict[]
function M.of(document, section)
  local found = {}
  for _, each in ipairs(M.claims[document] or {}) do
    local file, claim, verdict = table.unpack(each)
    if file == section.file then
      local is_there = not (section.lacking or section.failed)
      found[#found + 1] = { claim = claim, verdict = is_there and judged(section, claim, verdict) or "not made" }
    end
  end
  return found
end

---Adds the verdicts of M.of to all sections of a document (paper), unless its data are made up, and returns
---the document.
---@param document report.Document|{ name: string, made_up: boolean }
---@return report.Document
function M.add(document)
  for _, section in ipairs(document.sections) do
    section.verdicts = document.made_up and {} or M.of(document.name, section)
  end
  return document
end

return M
