-- The scripts that reproduce Tang et al. (2023), in the order of the sections of a report of docs/report.
-- Each row has a script's name, the title of its section, and the command line options with which the report runs the
-- script.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "table_1", "Table 1, our protocol", {} },
  { "differences", "Differences between the objectives, our protocol", {} },
  { "table_1_code", "Table 1, as the authors' code computes it", {} },
  { "blanks", "The two empty cells of Table 1, timed on made-up queries", {} },
  { "learning_curves", "Figures 1 to 9, our protocol",
    { "--recipe", "paper", "--out", "results/objectives/learning_curves.svg" } },
  { "learning_curves", "Figures 1 to 9, as the authors' code draws them",
    { "--recipe", "code", "--out", "results/objectives/learning_curves_code.svg" } },
}

return dofile(here .. "../../docs/report/sections.lua").list(here, scripts)
