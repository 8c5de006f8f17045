-- The scripts of Li, Urbano & Hanjalic (2021) for the report, in its order. Each entry has the script's name, the
-- title of its section, and its options. With --recipe published or code, scripts train on the authors' own splits,
-- so that their tables can be compared with the published numbers.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local ways = {
  { title = "trained as published", words = { "--recipe", "published", "--sets", "citeulike" }, ending = "_published" },
  { title = "trained as the authors' last commit",
    words = { "--recipe", "code", "--sets", "citeulike" }, ending = "_code" },
  { title = "trained as in the paper", words = { "--recipe", "paper" }, ending = "" },
}
-- Listwise losses and LambdaRank have separate sections, so that the results file of one is written before the runs
-- of the other are complete.
local kinds = { { name = "listwise", title = "listwise losses" }, { name = "lambda", title = "LambdaRank" } }
local figures = {
  "every loss by every metric and NSR", "which loss is the best by which metric", "losses over all data sets",
  "losses on each data set", "gains of users by nRBP",
}

local scripts = { { "table_1", "Table 1: users, items and ratings of the data sets", {}, "data" } }
local function add(name, title, words) scripts[#scripts + 1] = { name, title, words } end
for _, way in ipairs(ways) do
  for _, kind in ipairs(kinds) do
    local title, recipe = ("Beside the published numbers: %s, %s"):format(kind.title, way.title), way.words[2]
    if recipe == "published" and kind.name == "listwise" then
      add("citeulike", title, {})
    else
      add("citeulike_recipes", title, { "--recipe", recipe, "--kinds", kind.name })
    end
  end
  add("models_of_nrbp", ("The three models of listwise nRBP (section 5.2), %s"):format(way.title), way.words)
  for number, words in ipairs(figures) do
    local picture = ("results/sigir21/figure_%d%s.svg"):format(number, way.ending)
    add("figure_" .. number, ("Figure %d: %s, %s"):format(number, words, way.title),
      { "--out", picture, table.unpack(way.words) })
  end
end
add("factors", "The number of factors (section 4.2)", { "--recipe", "published" })

return dofile(here .. "../../docs/report/sections.lua").list(here, scripts)
