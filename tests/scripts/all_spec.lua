-- Tests a report of three documents (scripts/all.lua) on made-up data. thesis_spec.lua tests the report of the thesis.
local says = require "tests.support.says"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local program = dofile "tests/support/program.lua"
local pages = dofile "tests/support/html.lua"
local it, check, equal = test.it, test.check, test.equal

local here = scripts.root
local documents = { "lecture", "cmu", "grid" }

local function count(text, pattern)
  local _, times = text:gsub(pattern, "")
  return times
end

-- Checks that a report is HTML without errors, has no link without its target, and loads nothing from elsewhere.
local function is_whole(html)
  check(not html:find "%ssrc=" and not html:find "<link" and not html:find "@import", "loads from elsewhere")
  local page = pages.read(html:gsub("<svg.-</svg>", ""))
  equal(page.problems, {})
  for id, times in pairs(page.ids) do equal(times, 1, id) end
  check(#page.links > 10, "has links")
  for _, link in ipairs(page.links) do check(page.ids[link:match "^#(.+)$"], link) end
  -- ids of elements in a figure's SVG must be unique in the report and be the targets of its links
  local seen = {}
  for id in html:gmatch "%sid=['\"]([^'\"]+)['\"]" do
    check(not seen[id], id)
    seen[id] = true
  end
  for id in html:gmatch "href=['\"]#([^'\"]+)['\"]" do check(seen[id], id) end
end

it("all.lua --smoke makes a section for every script of the documents, and one banner on made-up data", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  local sections = 0
  for _, name in ipairs(documents) do sections = sections + #dofile(("scripts/%s/all.lua"):format(name)) end
  local folder = sweeps.new_folder()
  local words = ("--smoke --workers 1 --documents %s"):format(table.concat(documents, ","))
  scripts.run(folder, "all.lua", words, "MOONRANK_DATA=.")
  local html = sweeps.read(folder .. "/results/report.html")
  -- the report has two more sections than the scripts make: the overview and the glossary
  equal({ count(html, "<section"), count(html, "</section>") }, { sections + 2, sections + 2 })
  equal({ count(html, "<h1>"), count(html, "<h2"), count(html, '<li class="document">') },
    { 1, 2 + #documents, 1 + #documents })
  equal({ count(html, 'class="banner"'), count(html, "--smoke%): none of the numbers") }, { 1, 0 })
  local opening = html:match '<section id="findings">(.-)</section>'
  equal({ count(opening, "<svg"), count(opening, "<table"), count(opening, "<tr>") }, { 1, 1, 1 + #documents })
  -- the two tables of families of rankers in the lecture's sections
  equal(count(html, '<p class="caption">made%-up '), 2)
  local titles = count(html, "<h3>[^<]*made%-up[^<]*</h3>")
  equal(titles, 8)  -- data of these sections are always made-up: faces in seven, profits in one
  for _, name in ipairs{ "MovieLens", "MQ2008", "CiteULike", "MSLR", "ClueWeb", "WEB10K" } do
    check(not html:find(name, 1, true), html:match("[^\n]*" .. name .. "[^\n]*"))
  end
  is_whole(html)
end)

it("titles in each all.lua have words beside the number of a table or figure, and occur once", function()
  local seen = {}
  for _, name in ipairs{ "sigir21", "objectives", "lecture", "cmu", "grid" } do
    for _, script in ipairs(dofile(("scripts/%s/all.lua"):format(name))) do
      check(not script.title:find "^%u%l+ [%d.]+$", script.title .. " has no words")
      check(not seen[name .. script.title], script.title .. " stands twice")
      seen[name .. script.title] = true
    end
  end
end)

-- Sections of the thesis that need no data: tables of worked examples, the figures of chapters 1 and 3, and the table
-- of learning rates.
local without_data = { "Tables 2.2 to 2.4", "Tables 3.1 to 3.3", "Figure 1.1", "Figure 3.1", "Figure 3.2", "Figure 3.3",
  "Figure 3.4", "Figure 3.5", "Figure 3.6", "Figure 3.7", "Learning rates" }

scripts.it("all.lua says in a section why its script failed, makes the others, and ends with an error",
  { "gnuplot" }, function(folder)
  sweeps.capture(("mkdir %s/none"):format(folder))
  local status, out, err =
    sweeps.run(folder, here .. "/scripts/all.lua", "--documents thesis,lecture --data none --out r.html")
  equal(status, 1, out)
  local html = sweeps.read(folder .. "/r.html")
  for _, title in ipairs(without_data) do
    local section = html:match("<h3>" .. title:gsub("%p", "%%%0") .. "(.-)</section>")
    check(section and section:find "<table" and not section:find "could not be made", title)
    check(not err:find(title .. ":", 1, true), err)
  end
  local failed = count(html, "This section could not be made: ")
  local lecture = #dofile "scripts/lecture/all.lua" - 3  -- three scripts of the lecture need no data
  equal(failed, count(html, "<section") - 2 - #without_data - 3)
  check(failed > lecture + 20, "the thesis' other sections are there")
  check(err:find(("%d of %d sections"):format(failed, count(html, "<section") - 2), 1, true), err)
  says(err, "Table 5.1: every loss under every bound, MQ2008", "scripts/thesis/figure_5_10.lua",
    "cremonesi.lua")
  check(not err:find "worked_numbers" and not err:find "stack traceback", err)
  check(html:find("Predictions of 5 items", 1, true), "a finding")
  check(html:find("none/", 1, true), "the folder that has no data is named")
  status, out, err = sweeps.run(folder, here .. "/scripts/thesis/all.lua", "--data none --out own")
  equal(status, 1, out)
  check(err:find(("%d of "):format(failed - lecture), 1, true) and err:find("claim.lua", 1, true), err)
  equal(count(sweeps.read(folder .. "/own/report.html"), "This section could not be made: "), failed - lecture)
end)

scripts.it("all.lua --kept shows the runs that exist and makes none, and says which sections lack runs",
  { "gnuplot" }, function(folder)
  scripts.run(folder, "grid/grid.lua", "--smoke --sets mq2008 --workers 0", "MOONRANK_DATA=.")
  local words = "--smoke --kept --documents grid,cmu --out r.html"
  local out = scripts.run(folder, "all.lua", words, "MOONRANK_DATA=.")
  local html, cmu = sweeps.read(folder .. "/r.html"), #dofile "scripts/cmu/all.lua"
  equal(count(html, "results/cmu/smoke.db has none of the runs"), cmu)
  equal(count(html:match '<section id="findings">(.-)</section>', "<td class=\"number\">0</td>"), 2)  -- whole sections
  check(html:find("There are no runs of ", 1, true) and not html:find "without %-%-kept", "what the grid lacks")
  check(not out:find("trials", 1, true), out)
  local other = "--smoke --kept --sets mq2008 --cap 5"
  local ended, _, said = sweeps.run(folder, here .. "/scripts/grid/grid.lua", other, "MOONRANK_DATA=.")
  check(ended == 2 and said:find("^moonrank: %-%-kept: results/grid/smoke%.db .*'mq2008, made%-up data'"), said)
  equal(count(sweeps.capture(("ls %s/results"):format(folder)), "cmu"), 0)
  for option, value in pairs{ workers = "1", force = "", retry = "1", ["mix-numerics"] = "" } do
    local status, _, err = sweeps.run(folder, here .. "/scripts/all.lua", ("--kept --%s %s"):format(option, value))
    check(status == 2 and err:find(("moonrank: --%s: "):format(option), 1, true) and err:find("--kept", 1, true), err)
  end
end)

scripts.it("all.lua --kept leaves out scripts that train and store no runs", { "gnuplot" }, function(folder)
  local out = scripts.run(folder, "all.lua", "--smoke --kept --documents lecture --out r.html", "MOONRANK_DATA=.")
  local html, trained = sweeps.read(folder .. "/r.html"), 0
  for _, script in ipairs(dofile "scripts/lecture/all.lua") do
    local section = html:match("<h3>" .. script.title:gsub("%p", "%%%0") .. "(.-)</section>")
    equal({ script.title, section:find "<table" ~= nil }, { script.title, script.takes == "none" })
    if script.takes == "training" then
      check(section:find(script.path:match "lecture/.*$" .. " trains models", 1, true), section)
      trained = trained + 1
    end
  end
  check(trained > 0 and not out:find "mr.fit", out)
end)

scripts.it("sections.lua shortens paths below the home folder, where a shell expands them", {}, function(folder)
  sweeps.write(folder .. "/shown.lua", ([[
    local sections = dofile "%s/docs/report/sections.lua"
    print(sections.tilde "/home/me/a.db: none; '/home/me/b', not /home/men/c, /srv/home/me/d or /home/me")
    print(sections.command{ path = "/home/me/x.lua", words = { "--store", "/home/me/a.db", "--out", "/home/me/a b" } })
  ]]):format(here))
  local function said(home) return (select(2, sweeps.run(folder, "shown.lua", "", "HOME=" .. home))) end
  equal(said "/home/me/", "~/a.db: none; '~/b', not /home/men/c, /srv/home/me/d or /home/me\n"
    .. "moonrank ~/x.lua --store ~/a.db --out '/home/me/a b'\n")
  check(said "/":find("/home/me/x.lua --store /home/me/a.db", 1, true))
end)

scripts.it("mr.experiment.study with --kept refuses a study that was interrupted", {}, function(folder)
  local kept = "local kept = require('moonrank').experiment\n"
  local study = [[
    local args = kept.args({ most = 3, epochs = 1 }, { document = "own" })
    local ok, found = pcall(kept.study, args, { name = "own", settings = { epochs = args.epochs },
      space = { x = require("moonrank").range(1, args.most) },
      run = function(trial)
        if trial.x == tonumber(os.getenv "SPEC_STOP") then os.exit(1) end
        return { valid = trial.x + 0.0 }
      end })
    print(ok and found:best().value or kept.lacked(found) or "another error: " .. tostring(found))]]
  sweeps.write(folder .. "/reads.lua", kept .. study)
  local function said(words, before)
    return (select(2, sweeps.run(folder, "reads.lua", words, before))):match "([^\n]*)\n*$"
  end
  says(said "--kept", "results/own/runs.db", "none", "'own'", "--kept")
  said("--workers 0", "SPEC_STOP=2")
  says(said "--kept", "results/own/runs.db", "of 3", "'own'", "--kept")
  said "--workers 0"
  equal(said "--kept", "3.0")
  sweeps.write(folder .. "/text.db", "no store")
  local status, _, err = sweeps.run(folder, "reads.lua", "--kept --store text.db")
  check(status == 2 and err:find("--store", 1, true) and err:find("text.db", 1, true), err)
  for _, other in ipairs{ "--most 2", "--epochs 2" } do
    says(said("--kept " .. other), "results/own/runs.db", "'own'", "other options")
  end
end)

local opening_of = dofile "docs/report/opening.lua"

it("opening.lua shows agreement with printed numbers by document, and the grid's picture", function()
  local sections = {
    { agreement = { of = 4, within = 3, tolerance = "0.01" } },
    { agreement = { of = 6, within = 1, tolerance = "0.01" } }, { failed = true }, {},
  }
  local documents_of_it = { { short = "A", name = "a", sections = sections },
    { short = "G", name = "grid", sections = { { figure = "grid.svg" } } } }
  local found = opening_of(documents_of_it, false)
  equal(found.tables[1].rows, { { "A", 4, 3, 10, 4, "0.01" }, { "G", 1, 1 } })
  equal(found.figure, "grid.svg")
  equal(#opening_of(documents_of_it, true).tables[1].columns, 3, "no printed number beside made-up data")
end)

-- The script of a test. It runs two scripts that define a loss of the same name, and one whose study depends on the
-- losses that are defined.
local defining = [[
local mr = require "moonrank"
local sections = dofile(mr.args{ sections = "" }.sections)
local function names() return table.concat(mr.losses.names(), " ") .. " " .. table.concat(mr.bounds.names(), " ") end
local before = names()
sections.run{ path = "defines.lua", title = "defines", words = {} }
print(names() == before and "as before" or names())
print("found " .. sections.run{ path = "trains.lua", title = "trains", words = { "--store", "a.db" } }.text)
]]

local trains = [[
local mr = require "moonrank"
local results = mr.sweep{ name = "own", store = mr.args{ store = "a.db" }.store, workers = 1,
  space = { x = mr.range(1, 2) }, run = function(trial) return trial.x end }
return { text = ("%g"):format(results:best().value), tables = {} }
]]

scripts.it("sections.run hides what a script defines by name from the next script and its workers", {}, function(folder)
  sweeps.write(folder .. "/trains.lua", trains)
  sweeps.write(folder .. "/defines.lua", [[
    local mr = require "moonrank"
    mr.losses.define("my_loss", { direction = "maximize", smooth = function(s, l) return l:sum(s) end })
    mr.bounds.define("my_bound", function(score) return score * 2 end)
    mr.models.define("my_model", { parameters = function() return {} end, forward = function() end })
    return { text = "", tables = {} }
  ]])
  local status, out, err = sweeps.run(folder, "sweep.lua", ("--sections %s/docs/report/sections.lua"):format(here))
  equal(status, 0, err)
  check(out:find("as before\n", 1, true), out)
  check(out:find "\nfound [12]", out)
  -- the study resumes when its script runs alone
  status, out, err = sweeps.run(folder, "trains.lua")
  equal(status, 0, err .. out)
end, defining)
