-- Makes the results file of one script: runs the script with the given options and writes its tables to
-- FOLDER/DOCUMENT/NAME.csv, where DOCUMENT is the script's folder and NAME is made from the script's name and options.
-- Then it makes the pages in FOLDER anew. It is for results that all.lua does not make, such as those of one loss.
-- Missing training runs are made, except with --kept.
-- Usage: moonrank docs/report/one_file.lua FOLDER SCRIPT [OPTIONS OF SCRIPT]
-- Example: moonrank docs/report/one_file.lua docs/results scripts/sigir21/citeulike.lua --losses ap --nsr 5
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match("^(.*/)") or "./"
local sections, results_file = dofile(here .. "sections.lua"), dofile(here .. "results_file.lua")
local documents = dofile(here .. "documents.lua")

local folder, script, words = arg[1], arg[2], { table.unpack(arg, 3) }
if folder == "--help" or not script then
  mr.exit(folder == "--help" and 0 or 1, [[
usage: moonrank docs/report/one_file.lua FOLDER SCRIPT [OPTIONS OF SCRIPT]
Writes the results file of one script, such as scripts/sigir21/citeulike.lua --losses ap, and the pages in FOLDER.]])
end
local document
for part in script:gmatch "([^/]+)/" do document = documents.written[part] and part or document end
if not document then
  mr.exit(1, ("SCRIPT is '%s', expected a script in the folder of a document, such as scripts/%s/table.lua (one of %s)")
    :format(script, documents.names[1], table.concat(documents.names, ", ")))
end
if not core.is_file(script) then mr.exit(1, ("SCRIPT is '%s', which is not a file"):format(script)) end

local run = { path = script, words = words }
local path = ("%s/%s/%s.csv"):format(folder, document, sections.file_name(run))
run.title = core.is_file(path) and results_file.read(path)[1].section
  or ("%s %s"):format(script:match "([^/]+)%.lua$", table.concat(sections.plain_words(words), " "))
local section = sections.run(run)
local count = results_file.write_all(folder, { { name = document, sections = { section } } })
if count == 0 then
  mr.exit(1, ("%s was not written, because %s"):format(path, section.lacking and "runs are missing"
    or section.forced and "its runs were continued with --force after a change. Make them anew in another store"
    or "the script makes no table"))
end
dofile(here .. "results_pages.lua").write_pages(folder)
dofile(here .. "claims.lua").renew(folder)
print("\nResults file: " .. path)
