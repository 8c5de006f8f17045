-- The scripts of Tang et al. (2023), for a report (../sections.lua): path, title, and the options of the command
-- line that a run of it has.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "table_1", "Table 1, our protocol", { "--recipe", "paper" } },
  { "table_1", "Table 1, as the authors' code computes it", { "--recipe", "code" } },
  { "blanks", "The two empty cells of Table 1, timed on made-up queries", {} },
  { "learning_curves", "Figures 1 to 9, our protocol",
    { "--recipe", "paper", "--out", "results/objectives/learning_curves.svg" } },
  { "learning_curves", "Figures 1 to 9, as the authors' code draws them",
    { "--recipe", "code", "--out", "results/objectives/learning_curves_code.svg" } },
}

return dofile(here .. "../sections.lua").list(here, scripts)
