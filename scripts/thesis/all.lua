-- The whole thesis (Westerborg 2022) in one command: runs what is missing, makes every table and figure, and writes one
-- report of them. When it was interrupted it continues where it stopped. The runs of the thesis alone, one seed on
-- MovieLens and MQ2008, are --seeds 1; the claim that a bound of our own is better takes three.
local here = arg[0]:match("^(.*/)") or "./"
local report, sections = dofile(here .. "../report.lua"), dofile(here .. "../sections.lua")

local made = dofile(here .. "document.lua").make()
local path = made.out .. "/report.html"
report.write(path, { title = made.title, text = made.text, documents = { made } })
print("\nReport: " .. path)
sections.check_made(made.sections)
