-- Tests the HTML report: findings, tables without empty columns, notes on how to read tables, glossary and links.
local mr = require "moonrank"
local says = require "tests.support.says"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local pages = dofile "tests/support/html.lua"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check
local report, reading = dofile "docs/report/report.lua", dofile "docs/report/reading.lua"
local verdicts, claims = dofile "docs/report/verdicts.lua", dofile "docs/report/claims.lua"
local results_file = dofile "docs/report/results_file.lua"
local glossary, opening_of = dofile "docs/report/glossary.lua", dofile "docs/report/opening.lua"

local function a_table(o)
  o.columns = o.columns or { "loss", "bound", "nDCG", "p", "empty", "nan" }
  o.rows = o.rows or { { "ap", "none", 0.25, "", "", 0 / 0 }, { "ap", "minmax", 0.5, 0.01 }, { "rr", "none", 0.125 } }
  return mr.table(o)
end

-- Returns the HTML of a report that has these sections under one document.
local function html_of(sections, made_up)
  local documents = { { name = "thesis", title = "A & B, a title", short = "A & B", sections = sections } }
  local html
  sweeps.in_folder(function(folder)
    report.write(folder .. "/r.html", { title = "T", text = "Made by a --kept", made_up = made_up,
      opening = opening_of(documents, made_up or false), documents = documents })
    html = sweeps.read(folder .. "/r.html")
  end)
  return html
end

local function section(more)
  local own = { title = "First < second", text = "One.\n\nTwo.", tables = {}, command = "moonrank a.lua" }
  for name, value in pairs(more or {}) do own[name] = value end
  return own
end

-- Returns the HTML of a section with these fields.
local function own_of(fields) return html_of{ section(fields) }:match '<section id="d1s1">(.-)</section>' end

describe("report.write", function()
  it("begins with claims and verdicts that link to their sections, and repeats them there", function()
    local html = html_of{ section(), section{ title = "Second", verdicts = {
      { claim = "1 < 2", verdict = "holds" }, { claim = "2 < 1", verdict = "does not hold" } } } }
    equal(pages.read(html).problems, {})
    local rows = {}
    for claim, verdict, id in html:match('<table class="findings">(.-)</table>'):gmatch
      '<tr><td>(.-)</td><td><span class="verdict (%a+)">.-</td><td><a href="#(%w+)">Second</a></td></tr>' do
      rows[#rows + 1] = { claim, verdict, id }
    end
    equal(rows, { { "1 &lt; 2", "holds", "d1s2" }, { "2 &lt; 1", "refuted", "d1s2" } })
    local own = html:match '<section id="d1s2">(.-)</section>'
    check(own:find("1 &lt; 2", 1, true) and own:find("does not hold", 1, true), own)
    check(html:find("findings", 1, true) < html:find('<section id="d1s1">', 1, true))
  end)

  it("has no table of findings where no section decides a claim", function()
    check(not html_of{ section() }:find '<table class="findings"')
  end)

  it("has a link in the side navigation for every section, and no link without target", function()
    local page = pages.read(html_of{ section{ text = "nDCG" }, section{ title = "Second" } })
    equal(page.problems, {})
    equal(page.links, { "#findings", "#d1", "#d1s1", "#d1s2", "#glossary" })
    for _, link in ipairs(page.links) do equal(page.ids[link:sub(2)], 1, link) end
  end)

  it("keeps each option of a command on one line, in the header and in a section", function()
    local html = html_of{ section{ command = "moonrank a.lua --smoke --out b" } }
    for _, option in ipairs{ "kept", "smoke", "out" } do
      check(html:find(('<p class="made">[^\n]*<span>%%-%%-%s</span>'):format(option)), option)
    end
  end)

  it("has one banner if data are made up", function()
    local function banners(html) return select(2, html:gsub('class="banner"', "")) end
    equal({ banners(html_of({ section(), section() }, true)), banners(html_of{ section() }) }, { 1, 0 })
  end)

  it("leaves out tables without rows, columns without values, and texts without words", function()
    local own = own_of{ text = " \n\n ", tables = { a_table{ rows = {} }, a_table{} },
      captions = { "Nothing", "Something" }, legends = { "why", "p: chance" } }
    local heads = {}
    for head in own:gmatch "<th%f[ >][^>]*>(.-)</th>" do heads[#heads + 1] = head end
    equal(heads, { "loss", "bound", "nDCG", "p" })
    check(not own:find("Nothing", 1, true) and not own:find("why", 1, true) and not own:find "<p>%s*</p>", own)
    equal(select(2, own:gsub('<td class="number">', "")), 6)
  end)

  it("folds the meaning of columns below one line on how to read the table", function()
    local own = own_of{ tables = { a_table{} }, legends = { "p: chance < 1" } }
    local line, rest = own:match "<details[^>]*><summary>(.-)</summary>(.-)</details>"
    check(line:find("loss", 1, true) and not line:find "\n" and rest:find("p: chance &lt; 1", 1, true), own)
  end)

  it("does not explain columns that are left out", function()
    local legend = "p: chance; empty: no word; nan, empty: of both; nDCG, nan: of one; the rest"
    local own = own_of{ tables = { a_table{} }, legends = { legend } }
    check(own:find("p: chance", 1, true) and own:find("nDCG, nan: of one; the rest", 1, true), own)
    check(not own:find("no word", 1, true) and not own:find("of both", 1, true), own)
  end)

  it("repeats the main finding only if the text of the section lacks it", function()
    local function times(text)
      return select(2, own_of{ text = text, finding = "It is so." }:gsub("It is so%.", ""))
    end
    equal({ times "Text.", times "Text. It is so. More." }, { 1, 1 })
  end)
end)

describe("reading.line", function()
  it("names the columns that tell rows apart, and what is bold", function()
    local line = reading.line(a_table{ mark = { nDCG = "max", p = 0.05 }, within = { "loss" } })
    says(line, '"loss" and "bound"', 'largest "nDCG" within each "loss"', '"p" below 0.05')
  end)

  it("says less if there is no room, and returns the whole sentences as well", function()
    local columns = { "loss", "bound", "nDCG at 10 of all", "AP of all items", "p, nDCG", "p, AP" }
    local one = mr.table{ columns = columns,
      rows = { { "ap", "none", 1, 2, 0.1, 0.2 }, { "ap", "minmax", 2, 3, 0, 1 } },
      mark = { [columns[3]] = "max", [columns[4]] = "max", ["p, nDCG"] = 0.05, ["p, AP"] = 0.05 }, within = { "loss" } }
    local whole, none = reading.line(one)
    equal(none, {})
    for room = 20, #whole + 1 do
      local line, sentences = reading.line(one, room)
      check(#line <= room, line)
      if room < #whole then
        says(table.concat(sentences, " "), '"loss" and "bound"', table.unpack(columns, 3))
      else
        equal({ line, sentences }, { whole, {} })
      end
    end
    equal(reading.line(one, 75), 'Bold: the largest numbers within each "loss"; p below 0.05.')
  end)

  it("of a report has at most 120 characters, with the whole sentences in the meaning of the columns", function()
    local columns = { "loss", "bound" }
    local row, mark = { "ap", "none" }, {}
    for i = 1, 8 do columns[i + 2], row[i + 2], mark["nDCG at " .. i] = "nDCG at " .. i, i, "max" end
    local rows = { row, table.move({ "ap", "minmax" }, 1, 2, 1, { table.unpack(row) }) }
    for _, legend in ipairs{ "", "nDCG: mean; bound: of the loss" } do
      local html = own_of{ tables = { mr.table{ columns = columns, rows = rows, mark = mark } }, captions = { "C" },
        legends = { legend } }
      local line = html:match "(How to read this: [^<]*)<":gsub("&quot;", '"')
      check(#line <= 120, line)
      says(html:gsub("&quot;", '"'), 'the largest "nDCG at 1"', '"nDCG at 8"')
    end
  end)

  it("says nothing of a table with one row and nothing bold", function()
    equal(reading.line(a_table{ rows = { { "ap", "none" } } }), "")
  end)
end)

it("glossary.html has the terms that a text uses, from the manual", function()
  local html = glossary.html "<p>The permutation test at NSR 1, by nDCG.</p><svg>AUC</svg>"
  for term, is_there in pairs{ ["Permutation test"] = true, NSR = true, ["DCG and nDCG"] = true, AUC = false,
    Steepness = false } do
    equal(html:find("<dt>" .. term .. "</dt>", 1, true) ~= nil, is_there, term)
  end
  equal(glossary.html "Nothing that needs a word.", "")
end)

-- Returns the verdict on a claim, which is found by words of its text, from table cells {row, column, value, table}.
local function verdict(document, words, cells)
  for _, each in ipairs(verdicts.claims[document]) do
    if each[2]:find(words, 1, true) then
      local own = {}
      for i, cell in ipairs(cells) do
        own[i] = { row = cell[1], column = cell[2], value = cell[3], table = cell[4] or "", numerics = "" }
      end
      return each[3](claims.reader("made", own))
    end
  end
  error(words)
end

-- Returns cells of a table that have changes with p-values.
local function changes(...)
  local cells = {}
  for i, pair in ipairs{ ... } do
    cells[#cells + 1] = { "r" .. i, "change", pair[1] }
    cells[#cells + 1] = { "r" .. i, "p, Holm", pair[2] }
  end
  return cells
end

describe("verdicts", function()
  it("counts significant changes for and against a claim", function()
    local function of(...) return verdict("thesis", "metric on MQ2008", changes(...)) end
    equal(of({ 0.1, 0.01 }, { 0.2, 0.04 }), "holds in all 2 cases")
    equal(of({ 0.1, 0.01 }, { -0.2, 0.01 }, { 0.1, 0.5 }), "holds in 1 of 3 cases, the opposite in 1")
    equal(of({ 0.1, 0.5 }, { 0.1, 0.06 }), "not shown")
    equal(of({ -0.1, 0.01 }, { 0.1, 0.06 }), "not shown, the opposite in 1")
    equal(of({ -0.1, 0.01 }, { -0.1, 0.02 }), "does not hold")
  end)

  it("compare our numbers with printed ones", function()
    equal(verdict("thesis", "within 0.01", { { "a", "difference", -0.01 }, { "b", "difference", 0.02 } }),
      "holds in 1 of 2 cases")
    equal(verdict("lecture", "worked numbers", { { "a", "printed", 0.72 }, { "a", "computed", 0.7222 },
      { "b", "printed", 0.5 }, { "b", "computed", 0.56 } }), "holds in 1 of 2 cases")
    equal(verdict("sigir21", "numbers of users", { { "a", "users", 5 }, { "a", "users, printed", 5 },
      { "a", "items", 7 }, { "a", "items, printed", 8 }, { "a", "ratings", 9 }, { "a", "ratings, printed", 9 } }),
      "holds in 2 of 3 cases")
  end)

  it("read other claims from their tables", function()
    local recall = "recall(10), all items"
    local function recommends(value)
      return verdict("lecture", "Biased factors", { { "biased MF, squared errors", "RMSE", 0.8 },
        { "movie mean", "RMSE", 0.9 }, { "biased MF, squared errors", recall, value }, { "most rated", recall, 0.5 } })
    end
    equal({ recommends(0.6), recommends(0.4) }, { "holds", "does not hold" })
    equal(verdict("grid", "own metric", { { "minmax", "losses", "+2 -0 of 3", "Changes by bound" },
      { "zscore", "losses", "+0 -1 of 4", "Changes by bound" } }), "holds in 2 of 7 cases, the opposite in 1")
    equal(verdict("thesis", "logit", { { "a", "the claim", "holds", "The claim" },
      { "b", "the claim", "not shown", "The claim" } }), "holds in 1 of 2 cases")
    local faces = { { "ranking; a", "by score", 0.8 }, { "classification; b", "by score", 0.7 } }
    equal(verdict("cmu", "faces", faces), "holds")
    faces[2][3] = 0.85
    equal(verdict("cmu", "faces", faces), "does not hold")
  end)

  it("exist for every claim whose results file is committed", function()
    local count = 0
    for document, own in pairs(verdicts.claims) do
      for _, each in ipairs(own) do
        local path = ("docs/results/%s/%s.csv"):format(document, each[1])
        if io.open(path) then
          local said = each[3](claims.reader(path, results_file.read(path)))
          check(said:find "^holds" or said == "does not hold" or said:find "^not shown", path .. ": " .. said)
          count = count + 1
        end
      end
    end
    check(count >= 20, count .. " claims")
  end)

  it("of a section are 'not made' without its runs or rows, and there are none on made-up data", function()
    local function of(more)
      local own = section{ file = "table_5_1_mq2008", used = { runs = 0, numerics = "", data = {}, date = "" } }
      for name, value in pairs(more) do own[name] = value end
      local found = verdicts.of("thesis", own)
      return #found == 1 and found[1].verdict
    end
    local changed = mr.table{ columns = { "loss", "change", "p, Holm" }, rows = { { "ap", 0.1, 0.01 } } }
    equal(of{ tables = { changed } }, "holds")
    equal({ of{ lacking = true }, of{ failed = true }, of{ tables = {} }, of{ file = "other" } },
      { "not made", "not made", "not made", false })
    local document = { name = "thesis", made_up = true, sections = { section{ file = "table_5_1_mq2008" } } }
    equal(verdicts.add(document).sections[1].verdicts, {})
  end)
end)
