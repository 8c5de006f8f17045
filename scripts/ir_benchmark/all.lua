-- The scripts that reproduce Yang et al. (2025), for a report of docs/report. Gowalla is left out, because its runs
-- take hours each: `table_2.lua --sets gowalla` makes them.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "table_2", "Table 2: losses of recommender systems, Amazon Health",
    { "--sets", "health", "--seeds", "1,2,3,4,5" } },
  { "bounds", "Softmax losses under every bound, Amazon Health", { "--sets", "health" } },
  { "bounds", "Softmax losses under every bound, MovieLens-1M", { "--sets", "movielens" } },
}

return dofile(here .. "../../docs/report/sections.lua").list(here, scripts)
