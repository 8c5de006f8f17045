-- Tests that the results which docs/results/README.md states agree with the results files.
local files = require "tests.support.files"
local test = require "moonrank.test"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check
local claims, results_file = dofile "docs/report/claims.lua", dofile "docs/report/results_file.lua"
local documents = dofile "docs/report/documents.lua"

local read = files.read

-- Raises an error with the first line in which two texts differ.
local function same_lines(path, made)
  local expected = made:gmatch "([^\n]*)\n"
  for line in read(path):gmatch "([^\n]*)\n" do
    local other = expected()
    check(line == other,
      ("%s has %q, made from docs/results: %q. docs/report/claims.lua says how to renew it."):format(path, line, other))
  end
  equal(expected(), nil)
end

it("docs/results/README.md states what the results files have", function()
  local page = claims.page(claims.read "docs/results", "docs/results")
  check(page:find("thesis/table_5_1.csv", 1, true), "there are claims")
  same_lines("docs/results/README.md", page)
end)

it("statements have sentences of at most 35 words", function()
  for _, claim in ipairs(claims.read "docs/results") do
    for sentence in ((claim.said or "") .. " "):gmatch "(.-)%. " do
      local _, words = sentence:gsub("%S+", "")
      check(words <= 35, ("%d words: %s"):format(words, sentence))
    end
  end
end)

-- Returns the notes on a document without the sentences of notes/claims.lua, and raises an error if one is not there.
local function without_sentences(name, sentences)
  local text = read(("docs/results/notes/%s.md"):format(name)):gsub("\n\n", "\0"):gsub("%s+", " "):gsub("%z", "\n")
  for _, claim in ipairs(sentences) do
    if claim.notes == name then
      local first, last = text:find(claim.said, 1, true)
      check(first, ("docs/results/notes/%s.md lacks, by %s: %s"):format(name, claim.file, claim.said))
      text = text:sub(1, first - 1) .. text:sub(last + 1)
    end
  end
  return text
end

it("notes state what the results files have, and no other decimals, shares or counts", function()
  -- learning rates, persistences, and the largest difference that counts as none
  local settings = { ["0.0003"] = true, ["0.001"] = true, ["0.003"] = true, ["0.01"] = true, ["0.1"] = true,
    ["0.8"] = true, ["0.9"] = true, ["0.95"] = true }
  local sentences, count = claims.read("docs/results", "notes/claims.lua"), 0
  for _, name in ipairs(documents.names) do
    for paragraph in (without_sentences(name, sentences) .. "\n"):gmatch "(.-)\n" do
      -- A measurement with its command and its day needs no results file.
      local is_measured = paragraph:find "`[%w_/]+%.lua %-%-[^`]*`" and paragraph:find "%(20%d%d%-%d%d%-%d%d;"
      local text = is_measured and "" or paragraph
      for _, other in ipairs{ "`[^`]*`", "%]%([^)]*%)", "Table %S+", "section %S+" } do text = text:gsub(other, "") end
      for decimal in text:gmatch "%d+%.%d+" do check(settings[decimal], ("%s.md: %s"):format(name, decimal)) end
      for _, pattern in ipairs{ "%d+ of %d+", "%d+ of the %d+", "%d %%", "%de%-%d" } do
        equal(text:match(pattern), nil, name)
      end
      count = count + 1
    end
  end
  check(count > 50 and #sentences > 30, "there are notes")
end)

-- Calls `body` with a folder that has one results file with two cells, and one claim (a sentence on results).
local function with_claim(body, value)
  local folder = sweeps.new_folder()
  local cells = {
    { "s", "", "a; b", "nDCG", value, "", "", "", 3, "n", "d", "2026-01-01", "moonrank scripts/thesis/x.lua" },
    { "s", "", "a; c", "nDCG", "0.25", "", "", "", 3, "n", "d", "2026-01-01", "moonrank scripts/thesis/x.lua" } }
  results_file.write(folder .. "/thesis/x.csv", cells)
  core.write_file(folder .. "/claims.lua", [[return {
      { document = "thesis", file = "thesis/x.csv", text = function(t, must)
        must(t("a; b", "nDCG") > t.all("; c$", "nDCG")[1], "b beats c")
        return ("b has %.2f"):format(t("a; b", "nDCG"))
      end },
      { document = "thesis", file = "thesis/none.csv", text = function() error "not called" end } }]])
  body(folder)
end

describe("docs/report/claims.lua", function()
  it("makes a claim from cells, and leaves it out if its file is missing", function()
    with_claim(function(folder)
      local found = claims.read(folder)
      equal({ found[1].said, found[2].said }, { "b has 0.75" })
      local page = claims.page(found, folder)
      check(page:find("- b has 0.75 ([file](thesis/x.csv))", 1, true), page)
      check(page:find("| [thesis/x.csv](thesis/x.csv) | `moonrank scripts/thesis/x.lua` | n, 2026-01-01 |", 1, true),
        page)
      check(page:find("none.csv", 1, true), "a claim without its file waits")
    end, "0.75")
  end)

  it("fails if the words of a claim do not hold, or if a cell is missing", function()
    with_claim(function(folder)
      test.raises(function() claims.read(folder) end, "b beats c")
      core.write_file(folder .. "/claims.lua", [[return { { document = "thesis", file = "thesis/x.csv",
        text = function(t) return t("a; b", "AP") end } }]])
      test.raises(function() claims.read(folder) end, "AP")
    end, "0.125")
  end)

  it("names the file if a statement cannot be made from its cells", function()
    with_claim(function(folder)
      for _, body in ipairs{ [[("%.2f"):format(t("a; b", "nDCG"))]], [[("%g"):format(t.interval("a; c", "nDCG"))]] } do
        core.write_file(folder .. "/claims.lua", ([[return { { document = "thesis", file = "thesis/x.csv",
          text = function(t) return %s end } }]]):format(body))
        test.raises(function() claims.read(folder) end, folder .. "/thesis/x.csv")
      end
    end, "1 of 2")
  end)

  it("joins the changes and p-values of rows and tables, and counts significant ones", function()
    local cells = {}
    for i, each in ipairs{ { "a", "x", 0.5, 0.01 }, { "a", "y", -0.25, 0.04 }, { "b", "x", 0.125, 0.05 } } do
      cells[2 * i - 1] = { table = each[1], row = each[2], column = "gain", value = each[3], numerics = "n" }
      cells[2 * i] = { table = each[1], row = each[2], column = "p", value = each[4], numerics = "n" }
    end
    local t = claims.reader("x.csv", cells)
    equal({ t.joined{ change = "gain", p = "p" } }, { { 0.5, -0.25, 0.125 }, { 0.01, 0.04, 0.05 } })
    equal({ t.joined{ rows = { "y", "x" }, tables = { "a" }, change = "gain", p = "p" } },
      { { -0.25, 0.5 }, { 0.04, 0.01 } })
    equal({ t.significant(t.joined{ change = "gain", p = "p" }) }, { 1, 1, 3 })
    test.raises(function() t.joined{ rows = { "z" }, change = "gain", p = "p" } end, "z")
    local all = table.move(cells, 1, #cells, 1, {})
    table.remove(cells, 4)
    test.raises(function() t.joined{ change = "gain", p = "p" } end, "x.csv", "row y", "column gain or p")
    table.insert(all, 3, all[1])
    local twice = claims.reader("x.csv", all)
    test.raises(function() twice.joined{ change = "gain", p = "p" } end, "x.csv", "row x", "twice")
  end)
end)
