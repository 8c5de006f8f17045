-- Reproduces the whole thesis (Westerborg 2022) with one command: makes the training runs that the store lacks, every
-- table and figure, and one report with all of them. An interrupted run continues where it stopped. --seeds 1 makes
-- only the runs of the thesis (one seed, MovieLens and MQ2008); the claim that a bound of our own is better needs three
-- seeds.
local here = arg[0]:match("^(.*/)") or "./"
local report, sections = dofile(here .. "../report.lua"), dofile(here .. "../sections.lua")

local made = dofile(here .. "document.lua").make()
local path = made.out .. "/report.html"
report.write(path, { title = made.title, text = made.text, documents = { made } })
print("\nReport: " .. path)
sections.check_made(made.sections)
