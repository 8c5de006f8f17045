-- Numbers printed in S. Seguí's slides "Learning to Rank" (Recommender Systems, Master on Foundations of Data Science,
-- 2021-2022), by the title of the slide that each was read from.
local M = {}

-- "Rank Evaluation", Mean Average Precision: the ranks of each query's relevant documents can be read from its sum; MAP
-- is of the rounded APs.
M.average_precision = { { ranks = { 1, 3, 6 }, ap = 0.72 }, { ranks = { 1, 2, 4 }, ap = 0.917 } }
M.map = 0.8185

-- "Pairwise approach": the scores of items A to E, from which pairs are made.
M.scores = { 1, 2, 3, 4, 5 }

-- "RankNet", "Same pair-level error but different list-level error": the documents' ratings.
M.ratings = { 2, 4, 3, 2, 4 }

return M
