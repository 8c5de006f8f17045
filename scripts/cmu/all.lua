-- The scripts of Li & Wu, for a report (../sections.lua): path, title, and the words that tell one run of a script from another.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local scripts = {
  { "table_1", "Table 1: web queries" },
  { "figure_1", "Figure 1: loss and nDCG@10 by epoch" },
}

local found = {}
for i, each in ipairs(scripts) do found[i] = { path = here .. each[1] .. ".lua", title = each[2], words = {} } end
return found
