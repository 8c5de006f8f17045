-- Tests results files: how tables of a script are written and read back, and the pages that are made from them.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check
local results_file, documents = dofile "docs/report/results_file.lua", dofile "docs/report/documents.lua"
local pages = dofile "docs/report/results_pages.lua"
local sections = dofile "docs/report/sections.lua"

local read = files.read

-- Runs a study with two trials in a store of the folder.
local function study(folder)
  return mr.sweep{ name = "own", store = folder .. "/runs.db", workers = 0, metric = "valid_ndcg",
    space = { start = mr.range(1, 2) },
    run = function(trial)
      local queries = mr.data.synthetic{ kind = "queries", queries = 6, features = 2, seed = 1 }
      local run = mr.fit{ model = mr.models.linear{ inputs = 2, seed = trial.start }, loss = mr.losses.ndcg{},
        train = queries, valid = queries, test = queries, epochs = 1, metrics = { "ndcg" }, progress = false }
      return run
    end }
end

-- Returns the lines of a section in a results file by column: the number of runs and the data fingerprint.
local function lines_of(section)
  section.title, section.made_by = "t", "c"
  local found = {}
  for _, line in ipairs(results_file.lines(section)) do found[line[4]] = { runs = line[9], data = line[11] } end
  return found
end

-- Runs a study with one trial that trains on these queries, or uses them in another role.
local function study_of(folder, name, queries, more)
  return mr.sweep{ name = name, store = folder .. "/roles.db", workers = 0, metric = "value",
    space = { start = mr.range(1, 1) }, run = function()
      local model = mr.models.linear{ inputs = 2, seed = 1 }
      local o = { model = model, loss = mr.losses.ndcg{}, train = queries, epochs = 1, progress = false }
      for key, value in pairs(more or {}) do o[key] = value end
      mr.fit(o)
      return { value = 1 }
    end }
end

describe("a results file", function()
  it("has the number of runs behind each cell, and none if the section does not say", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "loss", "mean", "change", "printed" }, rows = { { "AP", 0.5, 0.25, 0.4 } } }
    local function with(runs)
      return lines_of{ tables = { one }, studies = { study(folder) }, cells = { { runs = runs } } }
    end
    local found = with(function(row, column)
      equal(row[1], "AP")
      return column == "printed" and 0 or column == "change" and 10 or 5
    end)
    equal({ found.mean.runs, found.change.runs, found.printed.runs }, { 5, 10, 0 })
    equal({ with(3).mean.runs, with("all").mean.runs, with(nil).mean.runs }, { 3, 2, "" })
    local used = { runs = 0, numerics = "", data = {}, date = "" }
    equal(lines_of({ tables = { one }, used = used }).mean.runs, 0)
  end)

  it("has the numerics version of each cell if the section says it, and its page has all of them", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "version", "mean", "change" }, rows = { { "b", 0.5, 0.25 }, { "a", 0.25 } } }
    local section = { title = "t", tables = { one }, made_by = "moonrank x.lua", file = "x",
      used = { runs = 0, numerics = "c", data = {}, date = "2026-01-01" },
      cells = { { numerics = function(row, column) return column == "change" and "b a" or row[1] end } } }
    equal(results_file.write_all(folder, { { name = "thesis", sections = { section } } }), 1)
    local cells = results_file.read(folder .. "/thesis/x.csv")
    equal({ cells[1].numerics, cells[2].numerics, cells[3].numerics }, { "b", "b a", "a" })
    equal(results_file.numerics(cells), "a b")
    check(pages.page(folder, "thesis"):find("numerics versions a, b, 2026-01-01", 1, true), "all versions")
    section.cells = nil
    equal(results_file.lines(section)[1][10], "c")
  end)

  it("has the fingerprint of a study's test data, or of all its data if it has no test data", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "loss", "mean" }, rows = { { "AP", 0.5 } } }
    local function queries(seed)
      return mr.data.synthetic{ kind = "queries", queries = 6, features = 2, seed = seed }
    end
    local function print_of(...) return lines_of({ tables = { one }, studies = { ... } }).mean.data end
    local trained, other = study_of(folder, "a", queries(1)), study_of(folder, "b", queries(2))
    local tested = study_of(folder, "c", queries(2), { test = queries(1) })
    check(print_of(trained):find "^%x+$" and #print_of(trained) == 16, print_of(trained))
    check(print_of(trained) ~= print_of(other), "other data")
    equal(print_of(tested), print_of(trained))
    check(print_of(tested, other) ~= print_of(tested), "each study counts")
  end)

  it("says how each interval was computed, and its page says so once per table, with the number of runs", function()
    local one = mr.table{ columns = { "data", "mean", "change" },
      rows = { { "A", 0.5, 0.25 }, { "B", 0.5, "0.1 (0.0 to 0.2)" } } }
    local section = { title = "t", tables = { one, one }, captions = { "one", "" }, made_by = "c",
      used = { runs = 20, numerics = "", data = {}, date = "" } }
    section.cells = { { intervals = { mean = { { 0.25, 0.75 }, { 0.1, 0.9 } } },
      by = function(row) return row[1] == "A" and "bootstrap over users" or "bootstrap over queries" end,
      runs = function(_, column) return column == "mean" and 5 or 10 end }, {} }
    local lines = results_file.lines(section)
    local function at(i, ...)
      local found = {}
      for n, name in ipairs{ ... } do
        for c, other in ipairs(results_file.columns) do found[n] = other == name and lines[i][c] or found[n] end
      end
      return found
    end
    equal(at(1, "table", "low", "high", "interval"), { "one", "0.25", "0.75", "bootstrap over users" })
    equal(at(2, "column", "low", "interval"), { "change", "", "" })  -- this column has no interval
    equal(at(4, "column", "low", "interval"), { "change", "0", "bootstrap over queries" })
    equal(at(5, "table", "interval"), { "data", "" })
    equal(at(8, "low", "interval"), { "0", "" })  -- the script does not say how this interval was computed
    local cells = {}
    for i, line in ipairs(lines) do
      cells[i] = {}
      for c, name in ipairs(results_file.columns) do cells[i][name] = line[c] end
    end
    local page = pages.page_section("x.csv", cells, { "", "change: of the mean" })
    check(page:find("Training runs behind a number: 5 or 10.", 1, true), page)
    local _, times = page:gsub("Intervals: bootstrap over users; bootstrap over queries%.\n", "")
    equal(times, 1)
    check(page:find("\n\n- change: of the mean\n\n|", 1, true), page)
  end)

  it("has a page with contents, in which a column has its place and one number of decimals", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "loss", "AP", "change", "lists" },
      rows = { { "AP", 0.5, nil, 9 }, { "nDCG", 0.25, -0.0625, 10 }, { "RR", 1 / 3, 1e-6, 11 } } }
    local section = { title = "Table 5.1: losses, all", tables = { one }, made_by = "x", file = "x",
      used = { runs = 0, numerics = "", data = {}, date = "2026-01-01" } }
    equal(results_file.write_all(folder, { { name = "thesis", sections = { section } } }), 1)
    local page = pages.page(folder, "thesis")
    for _, part in ipairs{ "| [Table 5.1: losses, all](#table-51-losses-all) | `x` |\n", "|  | AP | change | lists |",
      "| AP | 0.5000 |  | 9 |", "| nDCG | 0.2500 | -0.0625 | 10 |", "| RR | 0.3333 | 1e-06 | 11 |" } do
      check(page:find(part, 1, true), page)
    end
  end)

  it("has beside it what the columns of each of its tables are, one line each", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "loss", "d" }, rows = { { "AP", 0.5 } } }
    local none = mr.table{ columns = { "loss", "d" }, rows = {} }
    local section = { title = "t", tables = { one, none, one, one }, captions = { "a", "b", "c", "e" }, file = "x",
      made_by = "x",
      legends = { "", "of none", "d: mean change\nin its units" }, used = { runs = 0, numerics = "", data = {},
      date = "2026-01-01" } }
    equal(results_file.write_all(folder, { { name = "thesis", sections = { section } } }), 1)
    equal(results_file.read_legends(folder .. "/thesis/x.csv"), { "", "d: mean change in its units", "" })
    local page = pages.page(folder, "thesis")
    check(page:find("c:\n\n- d: mean change in its units\n\n|", 1, true) and not page:find("of none", 1, true), page)
    equal(results_file.read_legends(folder .. "/thesis/none.csv"), {})
  end)

  it("has a line for each cell that is not NaN, with where it comes from", function()
    local folder = sweeps.new_folder()
    local one = mr.table{ columns = { "NSR", "loss", "none", 'with "quotes", and a comma' },
      rows = { { 1, "nDCG", 0.5, -0.25 }, { 1, "AP", 1 / 3 }, { 2, "AP", 0 / 0, "0.9 (of 3)\nsecond line" },
        { 3, "AP", "0.81 (0.79 to 0.83)", "-0.5" } } }
    local section = { title = "Table 1", tables = { one }, captions = { "by users" }, file = "table_1",
      studies = { study(folder), study(folder) }, made_by = "moonrank table_1.lua",
      cells = { { intervals = { none = { { 0.4, 0.6 } } }, runs = "all" } } }
    local lines = { name = "thesis",
      sections = { section, { title = "no runs", tables = { one }, file = "none", lacking = true } } }
    equal(results_file.write_all(folder, { lines }), 1)
    check(not core.file_exists(folder .. "/thesis/none.csv"), "a section without its runs has no file")
    local cells = results_file.read(folder .. "/thesis/table_1.csv")
    equal(#cells, 6)
    local first = cells[1]
    equal({ first.section, first.table, first.row, first.column, first.value, first.low, first.high, first.runs,
      first.command }, { "Table 1", "by users", "NSR 1; nDCG", "none", 0.5, 0.4, 0.6, 2, "moonrank table_1.lua" })
    equal({ first.numerics, first.date }, { core.numerics(), os.date "!%Y-%m-%d" })
    check(first.data:find "^%x+$" and #first.data == 16, first.data)
    equal({ cells[2].column, cells[2].value, cells[2].low }, { 'with "quotes", and a comma', -0.25, "" })
    equal({ cells[3].row, cells[3].value }, { "NSR 1; AP", 0.333333 })
    equal({ cells[4].row, cells[4].value }, { "NSR 2; AP", "0.9 (of 3)\nsecond line" })
    equal({ cells[5].value, cells[5].low, cells[5].high, cells[6].value, cells[6].low },
      { 0.81, 0.79, 0.83, -0.5, "" })
  end)

  it("names a row by as few columns as tell the rows apart", function()
    local one = mr.table{ columns = { "algorithm", "rates chosen", "queries", "nDCG" },
      rows = { { "RankNet", "0.01 0.1", 471, 0.5 }, { "hinge", "0.1", 471, 0.6 } } }
    local lines = results_file.lines{ title = "t", tables = { one }, made_by = "c",
      used = { runs = 0, numerics = "", data = {}, date = "" } }
    equal({ lines[1][3], lines[1][4], lines[1][5], lines[4][3], lines[5][5] },
      { "RankNet", "rates chosen", "0.01 0.1", "hinge", "471" })
  end)

  it("numbers rows that have the same name, and leaves blank cells out", function()
    local one = mr.table{ columns = { "order", "computed", "equal" },
      rows = { { "1 0", 0.5, "" }, { "1 0", 0.5, "yes" }, { "0 1", 0.25, "" } } }
    local lines = results_file.lines{ title = "t", tables = { one }, made_by = "c",
      used = { runs = 0, numerics = "", data = {}, date = "" } }
    local names = {}
    for i, line in ipairs(lines) do names[i] = line[3] .. ": " .. line[4] end
    equal(names, { "1 0: computed", "1 0 (2): computed", "1 0 (2): equal", "0 1: computed" })
  end)

  it("splits cells of a value and a change, and names tables without captions by their first column", function()
    local one =
      mr.table{ columns = { "loss", "AP" }, rows = { { "nDCG", "0.5 (-0.25)" }, { "AP", "+0.5 (+0.25 to -0.125)" } } }
    local two = mr.table{ columns = { "bound", "AP" }, rows = { { "minmax", 1 } } }
    local lines = results_file.lines{ title = "t", tables = { one, two }, made_by = "c",
      used = { runs = 0, numerics = "", data = {}, date = "" } }
    local found = {}
    for i, line in ipairs(lines) do found[i] = table.concat({ table.unpack(line, 2, 7) }, " | ") end
    equal(found, { "loss | nDCG | AP | 0.5 |  | ", "loss | nDCG | AP, change | -0.25 |  | ",
      "loss | AP | AP | 0.5 | 0.25 | -0.125", "bound | minmax | AP | 1 |  | " })
  end)

  it("takes columns `low` and `high` as the interval of the column before", function()
    local one = mr.table{ columns = { "loss", "nDCG", "low", "high", "n" },
      rows = { { "AP", 0.5, 0.25, 0.75, 9 }, { "none", 0.1 } } }
    local lines = results_file.lines{ title = "t", tables = { one }, made_by = "c",
      used = { runs = 0, numerics = "", data = {}, date = "" } }
    equal(#lines, 3)
    equal({ table.unpack(lines[1], 3, 7) }, { "AP", "nDCG", "0.5", "0.25", "0.75" })
    equal({ lines[2][4], lines[2][5], lines[3][6] }, { "n", "9", "" })
  end)

  it("is named by its script and its choices, not by paths", function()
    local function name(...) return sections.file_name{ path = "scripts/x/table_1.lua", words = { ... } } end
    equal(name("--recipe", "paper", "--out", "results/a.svg", "--kept", "--seed", "1"), "table_1_paper")
    equal(name("--sets", "movielens,mq2008", "--store", "s.db"), "table_1_movielens_mq2008")
    equal(sections.command{ path = "a.lua", words = { "--sets", "a,b", "--versions", "c d", "it's", "" } },
      [[moonrank a.lua --sets a,b --versions 'c d' 'it'\''s' '']])
    equal(sections.plain_words{ "--data", "d", "--seed", "1", "--force" }, { "--seed", "1" })
  end)
end)

describe("the project's results", function()
  it("have one command and data fingerprint per file, and a numerics version for each cell", function()
    for _, name in ipairs(documents.names) do
      local folder = "docs/results/" .. name
      for _, file in ipairs(results_file.files("docs/results", name)) do
        local cells = results_file.read(folder .. "/" .. file)
        check(#cells > 0, file)
        for _, cell in ipairs(cells) do
          check(not tostring(cell.value):find "^%-?nan$", file)
          check(cell.command:find("^moonrank scripts/" .. name .. "/") and cell.date:find "^%d%d%d%d%-%d%d%-%d%d$",
            file)
          equal({ cell.command, cell.data }, { cells[1].command, cells[1].data }, file)
          check(cell.numerics:find "^2026%-11%a", file)
        end
      end
    end
  end)

  it("say what their columns are: each word that not everybody knows is in the legend of the table", function()
    local known = {}
    local words = "Adam SGD nDCG AP RR RBP nRBP MAP AUC RMSE MAE mean median epoch epochs rate queries users pairs "
      .. "documents items ratings accuracy printed computed loss algorithm data kind minmax expectation random best "
      .. "last first worst at MLP MQ2008 made-up"
    for word in words:gmatch "%S+" do
      known[word] = true
    end
    local function is_said(word, legend)
      if known[word] or word:find "^[%d.%%]+$" or word:find "@%d+$" then return true end
      local escaped = word:gsub("%p", "%%%0")
      return legend:find((escaped:find "^%w" and "%f[%w]" or "") .. escaped .. (escaped:find "%w$" and "%f[%W]"
        or "")) ~= nil
    end
    for _, name in ipairs(documents.names) do
      for _, file in ipairs(results_file.files("docs/results", name)) do
        local path = ("docs/results/%s/%s"):format(name, file)
        local legends, t, last = results_file.read_legends(path), 0, nil
        for _, cell in ipairs(results_file.read(path)) do
          if cell.table ~= last then t, last = t + 1, cell.table end
          for word in cell.column:gmatch "[^%s,()]+" do
            check(is_said(word, legends[t] or ""), ("%s, table %d: %s in %s"):format(path, t, word, cell.column))
          end
        end
        equal(#legends, t, path)
      end
    end
  end)

  it("stand on the pages as in the files", function()
    local count = 0
    for _, name in ipairs(documents.names) do
      local page = pages.page("docs/results", name)
      if page then equal(read(("docs/results/%s.md"):format(name)), page, name) end
      count = count + (page and 1 or 0)
    end
    check(count > 0, "there are results")
  end)
end)

describe("a damaged results file", function()
  local whole = { table.concat(results_file.columns, ","),
    "s,t,a,nDCG,0.5,0.25,0.75,by users,3,n,d,2026-01-01,moonrank x.lua",
    "s,t,b,nDCG,0.125,,,,3,n,d,2026-01-01,moonrank x.lua" }

  -- Reads the whole file after line `at` was changed by `change`, a function, or removed.
  local function changed(at, change)
    local lines = table.move(whole, 1, #whole, 1, {})
    if at then lines[at] = change and change(lines[at]) or nil end
    local path = files.new_path ".csv"
    core.write_file(path, #lines > 0 and table.concat(lines, "\n") .. "\n" or "")
    return results_file.read(path)
  end
  local function replaced(from, to) return function(line) return (line:gsub(from, to, 1)) end end

  it("is an error that names the file, the line or row, and what was found", function()
    equal(#changed(), 2)
    local function refuses(at, change, ...) test.raises(function() changed(at, change) end, ".csv", ...) end
    local empty = files.new_path ".csv"
    core.write_file(empty, "")
    test.raises(function() results_file.read(empty) end, empty, "empty")
    core.write_file(empty, whole[1] .. "\n")
    test.raises(function() results_file.read(empty) end, empty, "only its header")
    refuses(1, replaced("low", "lower"), ":1:", "'lower'", "'low'")
    refuses(1, replaced("value,low", "low,value"), ":1:", "'low'", "'value'")
    refuses(1, replaced(",command", ""), ":")
    refuses(3, replaced("0%.125", "good"), ":3:", "row 'b'", "'good'", "number")
    refuses(3, replaced("0%.125", "nan"), ":3:", "row 'b'", "nan")
    refuses(3, replaced("0%.125", "-inf"), ":3:", "row 'b'", "-inf")
    refuses(3, replaced("0%.125", ""), ":3:", "row 'b'", "empty")
    refuses(2, replaced("0%.25", "0.625"), ":2:", "row 'a'", "0.625", "0.5")
    refuses(2, replaced("0%.75", "0.375"), ":2:", "row 'a'", "0.375", "0.5")
    refuses(2, replaced("0%.75", ""), ":2:", "row 'a'", "high")
    refuses(2, replaced("users,3", "users,three"), ":2:", "row 'a'", "'three'")
    refuses(2, replaced("users,3", "users,3.5"), ":2:", "row 'a'", "3.5")
    refuses(3, replaced("nDCG,0%.125", "p,-3"), ":3:", "row 'b'", "p-value", "-3")
    refuses(3, replaced("nDCG,0%.125", '"p, Holm",1.5'), ":3:", "row 'b'", "p-value", "1.5")
    refuses(3, replaced("b,", "a,"), ":3:", "row 'a'", "twice", "2")
  end)
end)
