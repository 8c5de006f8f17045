-- Makes one report of everything that is reproduced here: the thesis, five other documents, and the grid of losses and
-- bounds. The script makes missing training runs, then every table and figure. If it is interrupted, the same command
-- continues.

-- The report begins with a table of claims and whether they hold. Each document keeps its runs in a store of its own.
-- With --kept no runs are made: sections show the runs that exist. Sections that lack runs, or whose scripts train
-- without storing runs, such as LambdaMART of the lecture, say so.
local here = arg[0]:match("^(.*/)") or "./"
local mr = require "moonrank"
local experiment, tools = mr.experiment, here .. "../docs/report/"
local report, sections = dofile(tools .. "report.lua"), dofile(tools .. "sections.lua")
local results_file, pages = dofile(tools .. "results_file.lua"), dofile(tools .. "results_pages.lua")
local opening_of, verdicts = dofile(tools .. "opening.lua"), dofile(tools .. "verdicts.lua")

local listed = dofile(tools .. "documents.lua")

local args = mr.args{
  documents = { default = listed.names, choices = listed.names, distinct = true,
    help = "what the report has, in this order" },
  out = { path = "output file", default = "results/report.html", endings = { ".html" }, help = "file of the report" },
  workers = { type = "integer", least = 0,
    help = "processes for runs that are missing; 0: this one", shown = "one per core" },
  data = { path = "data folder", default = "",
    help = "folder of ml-latest-small, mq2008 and others", shown = "where the program looks for data" },
  force = { default = false,
    help = "go on with kept runs although scripts or data have changed; other settings stay an error" },
  retry = { default = 0, least = 0, help = "how often runs that failed or were killed are tried again" },
  mix_numerics = { default = false, help = "use kept runs of another numerics version" },
  kept = { default = false, ignores = { "workers", "force", "retry", "mix_numerics" },
    help = "show the runs that are kept and make none; sections that lack runs say so" },
  results = { path = "new folder", default = "", help = "folder for results files: CSV, one for each section" },
  smoke = { default = false, ignores = { "data", "results" },
    help = "test all scripts with made-up data, one fold and two epochs" },
}
local of_runs = {
  data = args.data,
  device = args.device,
  workers = args.workers,
  force = args.force,
  mix_numerics = args.mix_numerics,
  kept = args.kept,
  smoke = args.smoke,
}
local options = {
  kept = experiment.words(of_runs, { retry = args.retry > 0 and args.retry }),
  data = experiment.words{ data = args.data, device = args.device, smoke = args.smoke },
  none = experiment.words{ device = args.device, smoke = args.smoke },
}
options.training = options.data

local function section_of(script)
  local words = table.move(options[script.takes or "kept"], 1, 99, #script.words + 1, { table.unpack(script.words) })
  local run = { path = script.path, title = script.title, words = words,
    refused = args.kept and script.takes == "training" }
  return sections.attempt(run, function() return sections.run(run) end)
end

-- Returns a document (paper) of the report with its sections. The thesis has a script of its own that makes its
-- sections; any other document has a list of scripts that make one section each.
local function document_of(name)
  local found = { sections = {} }
  if name == "thesis" then
    local whole = { path = here .. "thesis/document.lua", title = "The thesis", words = options.kept }
    found = sections.attempt(whole, function() return sections.call(whole.path, whole.words) end)
    found.sections = found.sections or { found }
  else
    for i, script in ipairs(dofile(("%s%s/all.lua"):format(here, name))) do found.sections[i] = section_of(script) end
  end
  return verdicts.add{ name = name, short = listed.written[name][1], title = listed.title_of(name),
    text = not found.failed and found.text or nil, sections = found.sections, made_up = args.smoke }
end

experiment.check_stores(args, args.documents)
report.prepare(args.out)
local documents, made = {}, {}
for i, name in ipairs(args.documents) do
  documents[i] = document_of(name)
  table.move(documents[i].sections, 1, #documents[i].sections, #made + 1, made)
end

report.write(args.out, {
  title = "Learning to rank, reproduced", made_up = args.smoke,
  text = ("Made by: %s (version %s)."):format(sections.command{ path = arg[0], words = arg }, mr.version),
  opening = opening_of(documents, args.smoke), documents = documents,
})
print("\nReport: " .. args.out)
local refused = {}
if args.results ~= "" then
  local count
  count, refused = results_file.write_all(args.results, documents)
  print(("Results files: %d"):format(count))
  pages.write_pages(args.results)
  dofile(tools .. "claims.lua").renew(args.results)
end
sections.check_made(made)
if #refused > 0 then
  mr.exit(1, ("--results: no files of %d sections, because their runs were continued with --force after a "
    .. "change. Make the runs anew in another store:\n  %s"):format(#refused, table.concat(refused, "\n  ")))
end
