-- Reproduces the whole thesis (Westerborg 2022) with one command: trains the models whose results are not yet stored,
-- makes every table and figure, and writes them into one HTML report. If interrupted, the same command continues. By
-- default models are trained under three random seeds, which the test of this project's own bound needs (claim.lua);
-- --seeds 1 suffices for the thesis' own tables and figures.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local tools = here .. "../../docs/report/"
local report, sections = dofile(tools .. "report.lua"), dofile(tools .. "sections.lua")
local verdicts, opening_of = dofile(tools .. "verdicts.lua"), dofile(tools .. "opening.lua")
local listed = dofile(tools .. "documents.lua")

local made = dofile(here .. "document.lua")
local path = made.out .. "/report.html"
local documents = { verdicts.add{ name = "thesis", short = listed.written.thesis[1], title = listed.title_of "thesis",
  text = made.text, sections = made.sections, made_up = made.made_up } }
report.write(path, {
  title = "User- and query-wise metric bounding, reproduced", made_up = made.made_up,
  text = ("Made by: %s (version %s)."):format(sections.command{ path = arg[0], words = arg }, mr.version),
  opening = opening_of(documents, made.made_up), documents = documents,
})
print("\nReport: " .. path)
sections.check_made(made.sections)
