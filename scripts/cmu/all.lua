-- The scripts that reproduce Li & Wu, in the order of the report: each row is a script's name and the title of its
-- section. docs/report/sections.lua runs the scripts.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "table_1", "Table 1: web queries" },
  { "differences", "Differences between the systems of Table 1" },
  { "figure_1", "Figure 1: loss and nDCG@10 by epoch" },
  { "table_2", "Table 2: which made-up face is older, from pixels" },
  { "figure_3", "Figure 3: weights of linear models of made-up faces" },
  { "figure_4", "Figure 4: RankCNN by epoch, on made-up faces" },
  { "table_3", "Table 3: which made-up face is older, from features" },
  { "figure_5", "Figure 5: RankNet on features by epoch, on made-up faces" },
  { "figure_6", "Figure 6: pairs of made-up faces that are ordered right" },
  { "figure_7", "Figure 7: pairs of made-up faces that are ordered wrong" },
}

return dofile(here .. "../../docs/report/sections.lua").list(here, scripts)
