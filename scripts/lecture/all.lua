-- The scripts of S. Seguí's lecture, for a report of docs/report. A row has the script's path, its title, the
-- options that the report passes, and which options the script also takes beside --smoke: "kept" (all options of
-- mr.experiment.args), "training" (only --data, and the script trains models without storing runs) or "none" (the
-- script needs no data).
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "worked_numbers", "The worked examples", {}, "none" },
  { "same_rmse", "Same RMSE, other ranking", {}, "none" },
  { "same_pairs", "Same pair-level error, other list-level error", {}, "none" },
  { "cremonesi", "Recommendation measured by recall", {}, "kept" },
  { "families", "Pointwise, pairwise, listwise", {}, "kept" },
  { "lambdamart", "LambdaMART and its relatives", {}, "training" },
  { "profit", "Items weighted by made-up profits", {}, "kept" },
  { "background/adarank", "AdaRank", {}, "training" },
  { "background/rankboost", "RankBoost", {}, "training" },
  { "background/prank", "PRank", {}, "training" },
  { "background/subset_ranking", "Subset Ranking", {}, "training" },
  { "background/listrank_mf", "ListRank-MF", {}, "training" },
  { "background/two_stages", "Re-ranking in two stages", {}, "training" },
}

return dofile(here .. "../../docs/report/sections.lua").list(here, scripts)
