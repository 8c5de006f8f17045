-- The scripts of S. Seguí's lecture, for a report (../sections.lua): path, title, the options of the command
-- line that a run of it has, and which options it takes beside --smoke: "kept" those of kept_runs.lua, "data" --data alone,
-- "none" (its numbers need no data).
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "worked_numbers", "The worked examples", {}, "none" },
  { "same_rmse", "Same RMSE, other ranking", {}, "none" },
  { "same_pairs", "Same pair-level error, other list-level error", {}, "none" },
  { "cremonesi", "Recommendation measured by recall", {}, "kept" },
  { "families", "Pointwise, pairwise, listwise", {}, "kept" },
  { "lambdamart", "LambdaMART and its relatives", {}, "data" },
  { "profit", "Items weighted by made-up profits", {}, "kept" },
  { "background/adarank", "AdaRank", {}, "data" },
  { "background/rankboost", "RankBoost", {}, "data" },
  { "background/prank", "PRank", {}, "data" },
  { "background/subset_ranking", "Subset Ranking", {}, "data" },
  { "background/listrank_mf", "ListRank-MF", {}, "data" },
  { "background/two_stages", "Re-ranking in two stages", {}, "data" },
}

return dofile(here .. "../sections.lua").list(here, scripts)
