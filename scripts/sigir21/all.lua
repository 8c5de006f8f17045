-- The scripts of Li, Urbano & Hanjalic (2021), for a report (../sections.lua): path, title, and the words that tell one run of a script from another.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "citeulike", "Beside the published numbers, trained as published", { "--recipe", "published" } },
  { "citeulike", "Beside the published numbers, trained as in the paper", { "--recipe", "paper" } },
  { "models_of_nrbp", "The three models of listwise nRBP (section 5.2)", {} },
  { "factors", "The number of factors (section 4.2)", { "--recipe", "published" } },
}
local figures = {
  "every loss by every metric and NSR", "which loss is the best by which metric", "losses over all data sets", "losses on each data set",
  "gains of users by nRBP",
}
for number, words in ipairs(figures) do
  scripts[#scripts + 1] = { "figure_" .. number, ("Figure %d: %s"):format(number, words), {} }
end

return dofile(here .. "../sections.lua").list(here, scripts)
