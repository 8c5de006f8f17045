-- Numbers printed in S. Seguí's slides "Learning to Rank" (Recommender Systems, Master on Foundations of Data
-- Science, 2021-2022). Each comment names the slide.
local M = {}

-- Slide "Rank Evaluation", Mean Average Precision: average precision of two queries, and the ranks of their
-- relevant documents, which follow from the slide's sums. `map` is the printed mean of both.
M.average_precision = { { ranks = { 1, 3, 6 }, ap = 0.72 }, { ranks = { 1, 2, 4 }, ap = 0.917 } }
M.map = 0.8185

-- Slide "Pairwise approach": scores of the items A to E, from which the slide makes pairs.
M.scores = { 1, 2, 3, 4, 5 }

-- Slide "RankNet", "Same pair-level error but different list-level error": ratings of the five documents.
M.ratings = { 2, 4, 3, 2, 4 }

return M
