-- The worked examples of Seguí's lecture "Learning to Rank" (slides "Rank Evaluation" and "Pairwise approach"): do the
-- library's metrics give the printed numbers? Metrics that the slides only define are computed for the same rows.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published = dofile(here .. "published.lua")

mr.args{ smoke = { default = false, help = "no effect: the numbers need no data" } }

-- Returns one list per element of `all_ranks`, an array of ranks. The rows at these ranks are relevant; all other rows,
-- from rank 1 to the last of them, are not. Also returns scores that rank the rows in that order.
local function ranked(all_ranks)
  local grades, scores = {}, {}
  for l, ranks in ipairs(all_ranks) do
    grades[l] = {}
    for i = 1, math.max(table.unpack(ranks)) do
      grades[l][i] = 0
      scores[#scores + 1] = -i
    end
    for _, rank in ipairs(ranks) do grades[l][rank] = 1 end
  end
  return mr.lists(grades), mr.tensor(scores, { dtype = "float64" })
end

local function descending(n) return -mr.arange(1, n):double() end

local rows = {}
local function row(measure, example, computed, printed)
  rows[#rows + 1] = { measure, example, printed or "", computed }
end

local first, second = table.unpack(published.average_precision)
local lists, scores = ranked{ first.ranks, second.ranks }
local ap = mr.metrics.ap(scores, lists):totable()
local words = { "ranks 1, 3, 6", "ranks 1, 2, 4" }
for i, query in ipairs{ first, second } do row("AP", words[i], ap[i], query.ap) end
row("MAP", "both queries", mr.evaluate(scores, lists, { "ap" }).mean.ap, published.map)
row("MAP", "both queries, of the rounded AP", (first.ap + second.ap) / 2, published.map)
for _, name in ipairs{ "precision@3", "recall@3", "rr", "auc" } do
  row(name, "ranks 1, 3, 6", mr.evaluate(scores, lists, { name })[name][1]:item())
end
for _, denominator in ipairs{ "relevant", "cutoff" } do
  row("AP@2 over " .. (denominator == "relevant" and "all relevant rows" or "min(2, relevant rows)"), "ranks 1, 3, 6",
    mr.metrics.ap(scores, lists, { k = 2, denominator = denominator })[1]:item())
end

-- Slide "Case: Kaggle Challenge Expedia": one relevant row, and MAP@5 = sum over k of P(k). The script sums P(k)
-- once over the relevant rows only, and once over every k up to 5, as the formula literally says.
for rank = 1, 3 do
  local one, order = ranked{ { rank } }
  local letter = 0
  for k = 1, 5 do letter = letter + mr.metrics.precision(order, one, { k = k }):item() end
  row("MAP@5, P(k) at relevant rows", "rank " .. rank,
    mr.metrics.ap(order, one, { k = 5, denominator = "cutoff" }):item())
  row("MAP@5, every P(k) to 5", "rank " .. rank, letter)
end

-- Slide "RankNet": the ratings of the documents are grades, ranked in the order of the slide.
local n = #published.ratings
local graded, order = mr.lists{ published.ratings }, descending(n)
local text = "ratings " .. table.concat(published.ratings, ", ")
row("CG", text, graded:sum(graded.relevance:double()):item())
row("DCG, gain rel", text, mr.metrics.dcg(order, graded, { gain = "linear" }):item())
row("DCG, gain 2^rel - 1", text, mr.metrics.dcg(order, graded):item())
row("IDCG, gain 2^rel - 1", text, mr.metrics.dcg(graded.relevance:double(), graded):item())
row("nDCG", text, mr.metrics.ndcg(order, graded):item())
row("RankNet, scores 5 to 1", text, mr.losses.ranknet()(order + 6, graded):item())
row("LambdaRank, scores 5 to 1", text, mr.losses.lambdarank()(order + 6, graded):item())

-- Slide "Pairwise approach": items A to E, with predictions that are half a star off and reverse no pair. A and B have
-- equal predictions, and so have C and D.
local off = mr.tensor({ 1.5, 1.5, 3.5, 3.5, 5.5 }, { dtype = "float64" })
local truth = mr.tensor(published.scores, { dtype = "float64" })
row("RMSE", "scores 1 to 5, half a star off", mr.stats.rmse(off, truth))
row("MAE", "scores 1 to 5, half a star off", mr.stats.mae(off, truth))
row("pairs in the right order", "scores 1 to 5, half a star off",
  mr.stats.pairwise_accuracy(off, mr.lists{ published.scores }))

local exact = mr.stats.mean(ap)

-- Counts the computed numbers that equal the printed number when rounded to the printed digits.
local agreement = { of = 0, within = 0, tolerance = "the last printed digit" }
for _, each in ipairs(rows) do
  if each[3] ~= "" then
    local digits = #(("%g"):format(each[3]):match "%.(%d+)" or "")
    agreement.of = agreement.of + 1
    agreement.within = agreement.within + (math.abs(each[4] - each[3]) <= 0.5 * 10 ^ -digits + 1e-12 and 1 or 0)
  end
end
local section = mr.experiment.finish({}, nil, ([[
The printed average precisions are the computed ones, rounded. The printed mean average precision, %.4f, is the mean of
the rounded values; without rounding it is %.4f. With one relevant row the denominators of AP@k agree. The formula of
the Expedia challenge, read to the letter, adds the precision at every rank up to 5 and can exceed 1; counted at
relevant rows only it is the reciprocal rank.]]
  ):format(published.map, exact),
  mr.table{ columns = { "measure", "example", "printed", "computed" }, rows = rows, formats = { computed = "%.4f" } })
section.agreement = agreement
return section
