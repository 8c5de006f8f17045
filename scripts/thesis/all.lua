-- Reproduces the whole thesis (Westerborg 2022) with one command: trains the models whose results are not yet stored,
-- makes every table and figure, and writes them into one HTML report. If interrupted, the same command continues. By
-- default models are trained under three random seeds, which the test of this project's own bound needs (claim.lua);
-- --seeds 1 suffices for the thesis' own tables and figures.
local here = arg[0]:match("^(.*/)") or "./"
local report, sections = dofile(here .. "../report.lua"), dofile(here .. "../sections.lua")

local made = dofile(here .. "document.lua")
local path = made.out .. "/report.html"
report.write(path, { title = made.title, text = made.text, documents = { made } })
print("\nReport: " .. path)
sections.check_made(made.sections)
