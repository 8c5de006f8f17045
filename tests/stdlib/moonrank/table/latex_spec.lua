-- Tests LaTeX output of tables, comparisons and results: structure, order of rows, and the best values in bold.
local core = require "moonrank.core"
local mr = require "moonrank"
local program = dofile "tests/support/program.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, check, equal, raises = test.describe, test.it, test.check, test.equal, test.raises

---Parses a LaTeX text with one tabular, and checks its structure: environments, rules of booktabs, as many cells in
---each row as columns, braces in pairs, and special characters only in commands.
---@return string[][] rows   cells of each row without the commands for bold
---@return table<string, boolean> bold  texts in \textbf
---@return string? caption
local function parse(text)
  local plain = text:gsub("\\[\\&%%$#_{}]", "")
  local depth = 0
  for brace in plain:gmatch "[{}]" do
    depth = depth + (brace == "{" and 1 or -1)
    check(depth >= 0, text)
  end
  equal(depth, 0, text)
  local columns, body = text:match "\\begin{tabular}{([lr]+)}\n\\toprule\n(.*)\\bottomrule\n\\end{tabular}\n"
  check(columns, text)
  check(not plain:gsub(" & ", ""):find "[&%%$#_~^]", plain)
  local rows, bold = {}, {}
  for line in body:gmatch "([^\n]*)\n" do
    if line == "\\midrule" then equal(#rows, 1, text)
    else
      local cells = {}
      for cell in (assert(line:match "^(.*) \\\\$", line) .. " & "):gmatch "(.-) & " do
        for marked in cell:gmatch "\\textbf(%b{})" do bold[marked:sub(2, -2)] = true end
        cells[#cells + 1] = cell:gsub("\\textbf(%b{})", function(inner) return inner:sub(2, -2) end)
      end
      equal(#cells, #columns, line)
      rows[#rows + 1] = cells
    end
  end
  local inside = text:match "^\\begin{table}\n(.*)\\end{table}\n$"
  equal(inside ~= nil, text:find("\\caption", 1, true) ~= nil)
  return rows, bold, inside and inside:match "^\\caption(%b{})\n"
end

local function firsts(rows)
  local found = {}
  for i = 2, #rows do found[i - 1] = rows[i][1] end
  return found
end

local t = mr.table{ columns = { "loss", "ndcg@10", "rmse", "p" }, formats = { ["ndcg@10"] = "%.2f" },
  rows = { { "a_b", 0.501, 1, 0.2 }, { "c&d", 0.75, 3, 0.1 }, { "e", 0 / 0, 2, 0.3 }, { "f", nil, 1, 0.4 },
    { "g", 0.499, -1, 0.5 } } }

it("LaTeX with best has the best finite number in bold, beside infinite numbers and NaN", function()
  local diverged = mr.table{ columns = { "loss", "ndcg", "rmse" },
    rows = { { "a", 0.5, 1 / 0 }, { "b", 1 / 0, -1 / 0 }, { "c", 0 / 0, 0 / 0 }, { "d", 0.25, 0.75 } } }
  equal(select(2, parse(diverged:to_latex{ best = true })), { ["0.5"] = true, ["0.75"] = true })
  local none = mr.table{ columns = { "loss", "ndcg" }, rows = { { "a", 1 / 0 }, { "b", 0 / 0 } } }
  equal(select(2, parse(none:to_latex{ best = true })), {})
  local pairs_of = mr.table{ columns = { "loss", "x", "y" }, across = { "x", "y" },
    direction = { x = "maximize", y = "maximize" },
    rows = { { "a", 1 / 0, 0.5 }, { "b", 0.25, 0 / 0 } } }
  equal(select(2, parse(pairs_of:to_latex{ best = true })), { ["0.5"] = true, ["0.25"] = true })
end)

describe("table:to_latex", function()
  it("keeps order and marks without options, and has no table environment", function()
    local rows, bold, caption = parse(t:to_latex())
    equal({ rows[1], firsts(rows), bold, caption },
      { { "loss", "ndcg@10", "rmse", "p" }, { "a\\_b", "c\\&d", "e", "f", "g" }, {}, nil })
    equal(t:to_latex{}, t:to_latex())
  end)
  it("puts the best first: the mean, a column, or the given values; missing numbers are last", function()
    for order, expected in pairs{ mean = { "c\\&d", "a\\_b", "g", "e", "f" },
      rmse = { "g", "a\\_b", "f", "e", "c\\&d" },
      ["ndcg@10"] = { "c\\&d", "a\\_b", "g", "e", "f" },
      p = { "g", "f", "e", "a\\_b", "c\\&d" } } do
      equal(firsts(parse(t:to_latex{ order = order })), expected)
    end
    equal(firsts(parse(t:to_latex{ order = { "e", "c&d" } })), { "e", "c\\&d", "a\\_b", "f", "g" })
    equal(t.rows[1][1], "a_b", "the table itself is as it was")
  end)
  it("prints the best of each column of results in bold, and numbers that are printed alike", function()
    local _, bold = parse(t:to_latex{ best = true })
    equal(bold, { ["0.75"] = true, ["-1"] = true })
    local near = mr.table{ columns = { "x", "y" }, rows = { { 1.001, 1 }, { 1.0, 2 }, { 3, 0 } },
      formats = { x = "%.2f" }, direction = { x = "minimize" } }
    local rows
    rows, bold = parse(near:to_latex{ best = true, order = "mean" })
    equal({ firsts(rows), bold }, { { "1.00", "1.00", "3.00" }, { ["1.00"] = true } })
    _, bold = parse(mr.table{ columns = { "x", "nDCG" }, rows = { { 1, 3 }, { 2, 4 } } }:to_latex{ best = true })
    equal(bold, { ["4"] = true })
  end)
  it("sorts and marks within groups of rows", function()
    local grouped = mr.table{ columns = { "nsr", "loss", "ap" }, within = { "nsr" },
      rows = { { 1, "a", 0.1 }, { 1, "b", 0.2 }, { 2, "a", 0.4 }, { 2, "b", 0.3 } } }
    local rows, bold = parse(grouped:to_latex{ order = "ap", best = true })
    equal({ rows[2][2], rows[3][2], rows[4][2], rows[5][2] }, { "b", "a", "a", "b" })
    equal(bold, { ["0.2"] = true, ["0.4"] = true })
  end)
  it("has a caption with escaped text and a label in a table environment", function()
    local text = t:to_latex{ caption = "100 % of {a_b} & $x", label = "tab:one" }
    local _, _, caption = parse(text)
    equal(caption, "{100 \\% of \\{a\\_b\\} \\& \\$x}")
    check(text:find("\\caption.-\n\\label{tab:one}\n\\centering\n\\begin{tabular}"), text)
  end)
  it("refuses unknown orders, values and columns, and a label without a caption", function()
    raises(function() t:to_latex{ order = "rms" } end, "order", "'rms'", "'rmse'")
    raises(function() t:to_latex{ order = { "nobody" } } end, "order", "'nobody'", "a_b")
    raises(function() t:to_latex{ order = 1 } end, "order", "1")
    raises(function() t:to_latex{ order = { "a_b", "a_b" } } end, "order", "'a_b'")
    raises(function() t:to_latex{ caption = "c", label = "t:a}%" } end, "label", "t:a}%")
    check(t:to_latex{ caption = "a\n\nb" }:find("caption{a b}", 1, true))
    raises(function() t:to_latex{ best = "yes" } end, "best", "'yes'")
    raises(function() t:to_latex{ label = "x" } end, "label", "caption")
    local unknown = mr.table{ columns = { "a" }, rows = { { 1 } } }
    raises(function() unknown:to_latex{ order = "mean" } end, "mean", "direction")
    raises(function() mr.table{ columns = { "a" }, direction = { b = "maximize" } } end, "direction", "'b'")
    raises(function() mr.table{ columns = { "a" }, direction = { a = "most" } } end, "direction", "'most'")
    raises(function() mr.table{ columns = { "a" }, across = { "b" } } end, "across", "'b'")
  end)
end)

-- Makes three systems on 12 lists. Each has the relevant row at a fixed rank: rr is 1, 1/2 and 1/3.
local function compared()
  local judged, scores = {}, { one = {}, two = {}, three = {} }
  for list = 1, 12 do
    judged[list] = { 1, 0, 0 }
    for name, others in pairs{ one = { 0, 0 }, two = { 2, 0 }, three = { 2, 3 } } do
      table.move({ 1, others[1], others[2] }, 1, 3, #scores[name] + 1, scores[name])
    end
  end
  return mr.compare{ one = mr.tensor(scores.one), two = mr.tensor(scores.two), three = mr.tensor(scores.three),
    qrels = mr.lists(judged), metrics = { "rr", "nrbp_loss" } }
end

describe("comparison:to_latex", function()
  it("orders systems as given, by a mean, or by name, with the best mean of each metric in bold", function()
    local c = compared()
    local function systems(options)
      local rows, bold = parse(c:to_latex(options))
      local names = {}
      for i = 2, #rows do names[i - 1] = rows[i][2] end
      return names, bold
    end
    equal({ systems() }, { { "one", "three", "two" }, {} })
    equal({ systems{ order = "given" } }, { { "one", "three", "two" }, {} })
    for _, order in ipairs{ "mean", "rr", "nrbp_loss" } do
      equal(systems{ order = order }, { "one", "two", "three" })
    end
    local names, bold = systems{ order = { "three" }, best = true }
    equal({ names, bold }, { { "three", "one", "two" }, { ["1.0000"] = true, ["0.0000"] = true } })
    local text = c:to_latex{ order = "mean", best = true, caption = "Systems" }
    check(text:find("a & one & \\textbf{1.0000}\\textsuperscript{bc} [1.0000, 1.0000] & ", 1, true), text)
    check(text:find("c & two & 0.5000\\textsuperscript{b} [", 1, true), text)
    equal(select(3, parse(text)), "{Systems}")
  end)
  it("has the best finite mean in bold", function()
    for _, mean in ipairs{ 1 / 0, 0 / 0 } do
      local c = compared()
      c.cells.rr.one.mean = mean
      equal(select(2, parse(c:to_latex{ best = true })), { ["0.5000"] = true, ["0.0000"] = true })
    end
  end)
  it("refuses unknown systems and metrics", function()
    local c = compared()
    raises(function() c:to_latex{ order = { "tow" } } end, "order", "'tow'", "'two'")
    raises(function() c:to_latex{ order = "nrbp_los" } end, "order", "'nrbp_los'", "nrbp_loss")
  end)
end)

describe("LaTeX of results", function()
  local store = files.new_path()
  local study = mr.sweep{ name = "s", store = store, workers = 0, progress = false, metric = "rmse",
    space = { loss = mr.choice{ "a", "b", "c" }, fold = mr.range(1, 3) }, sampler = "grid",
    run = function(trial)
      local level = ({ a = 2, b = 1, c = 3 })[trial.loss]
      return { rmse = level + trial.fold / 10, ap = level / 10 + trial.fold / 100 }
    end }
  it("of a pivot and of best has rows by mean and the best in bold, in the direction of the number", function()
    local rows, bold = parse(study:pivot{ rows = "loss", format = "%.2f" }:to_latex{ order = "mean", best = true })
    equal({ firsts(rows), bold }, { { "b", "a", "c" }, { ["1.20"] = true } })
    rows = parse(study:pivot{ rows = "loss", columns = "fold", value = "ap" }:to_latex{ order = "mean" })
    equal(firsts(rows), { "c", "a", "b" })
    rows, bold = parse(study:best("loss", { over = "fold" }):to_latex{ order = "rmse", best = true })
    equal({ firsts(rows), bold }, { { "b", "a", "c" }, { ["1.2"] = true, ["0.32"] = true } })
    for _, options in ipairs{ { over = "fold" }, {} } do
      rows = parse(study:best("loss", options):to_latex{ order = "mean" })
      equal(firsts(rows), { "b", "a", "c" }, "without a column mean, by the study's metric rmse, not by ap")
    end
    rows = parse(study:trials{ columns = { "loss", "fold", "ap" } }:to_latex{ order = "mean" })
    equal(rows[2], { "c", "3", "0.33" }, "without a column of the metric, by the first column of results")
    rows = parse(study:trials{ columns = { "loss", "fold", "ap" } }:to_latex{ order = "ap" })
    equal(rows[2], { "c", "3", "0.33" })
  end)
  it("of a comparison has the better mean of each pair in bold", function()
    local rows, bold = parse(study:compare{ by = "loss" }:to_latex{ order = "mean", best = true })
    equal(bold, { ["1.2000"] = true, ["2.2000"] = true })
    equal({ rows[2][1], rows[2][2] }, { "b", "c" })
  end)
end)

it("LaTeX of every table compiles, if there is a LaTeX with booktabs", function()
  local has = program.run "command -v pdflatex" and program.run "kpsewhich booktabs.sty"
  if not has then return test.skip "no pdflatex with booktabs" end
  local folder = files.new_folder()
  core.write_file(folder .. "/all.tex", table.concat({ "\\documentclass{article}\\usepackage{booktabs}",
    "\\begin{document}",
    t:to_latex(), t:to_latex{ caption = "100 % of {a_b} & $x", label = "tab:one", best = true, order = "mean" },
    compared():to_latex{ caption = "Systems", best = true }, "\\end{document}" }, "\n"))
  local ok, text = program.run(("cd '%s' && pdflatex -interaction=nonstopmode -halt-on-error all.tex"):format(folder))
  check(ok, text)
end)
