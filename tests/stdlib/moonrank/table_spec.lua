-- Tests tables as aligned text and as comma-separated values.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, describe, check, equal, raises = test.it, test.describe, test.check, test.equal, test.raises

it("mr.table aligns words to the left and numbers to the right", function()
  local t = mr.table{ columns = { "loss", "ndcg", "lists" }, formats = { ndcg = "%.3f" },
    rows = { { "nDCG", 0.96589, 412 }, { "nRBP", 0.9, 7 } } }
  equal(tostring(t), table.concat({
    "loss   ndcg  lists",
    "----  -----  -----",
    "nDCG  0.966    412",
    "nRBP  0.900      7",
  }, "\n"))
end)

it("mr.table refuses a row with more values than columns, and a column name that is given twice", function()
  raises(function() mr.table{ columns = { "a", "b" }, rows = { { 1, 2 }, { 1, 2, "x" } } } end, "row 2", "3", "'x'")
  raises(function() mr.table{ columns = { "a", "b" }, rows = { { 1, 2, [5] = 3 } } } end, "row 1", "5", "columns")
  raises(function() mr.table{ columns = { "a" }, rows = { { [0] = 7 } } } end, "row 1", "0", "7")
  raises(function() mr.table{ columns = { "a", "b", "a" }, rows = { { 1, 2, 3 } } } end, "columns", "'a'", "twice")
end)

it("mr.table aligns by letters, not bytes", function()
  local t = mr.table{ columns = { "name", "x" }, rows = { { "Järvelin", 1 }, { "Li", 2 } } }
  equal(tostring(t), table.concat({ "name      x", "--------  -", "Järvelin  1", "Li        2" }, "\n"))
end)

it("mr.table leaves missing values blank and shows NaN as nan in every format", function()
  local t = mr.table{ columns = { "a", "b", "c" }, formats = { c = "%.2f" },
    rows = { { 1, nil, 2.5 }, { 0 / 0, "x", 0 / 0 } } }
  equal(tostring(t), table.concat({ "  a  b     c", "---  -  ----", "  1     2.50", "nan  x   nan" }, "\n"))
end)

it("mr.table prints its head without rows", function()
  equal(tostring(mr.table{ columns = { "a", "bc" } }), "a  bc\n-  --")
end)

it("mr.table exports CSV that reads back exactly", function()
  local t = mr.table{ columns = { "name", "x" }, rows = { { 'say "a, b"', 0.1 }, { nil, 3 }, { "two\nlines", -0.0 } } }
  equal(t:to_csv(), 'name,x\n"say ""a, b""",0.10000000000000001\n,3\n"two\nlines",-0\n')
end)

it("mr.table exports JSON with an object per row", function()
  local t = mr.table{ columns = { "name", "x", "ok" },
    rows = { { 'say "a"', 0.1, false }, { nil, 3 }, { "b", 0 / 0, true } } }
  equal(t:to_json(), '[{"name":"say \\"a\\"","ok":false,"x":0.10000000000000001},\n' ..
    '{"x":3},\n{"name":"b","ok":true,"x":"nan"}]')
  equal(mr.table{ columns = { "a" } }:to_json(), "[]")
end)

it("mr.table exports HTML with escaped text and a class for numbers", function()
  local t = mr.table{ columns = { "a<b", "p & q" }, formats = { ["p & q"] = "%.2f" },
    rows = { { '"x" > 1', 0.5 }, { nil, 0 / 0 } } }
  equal(t:to_html(), table.concat({
    "<table>",
    '<thead><tr><th>a&lt;b</th><th class="number">p &amp; q</th></tr></thead>',
    "<tbody>",
    '<tr><td>&quot;x&quot; &gt; 1</td><td class="number">0.50</td></tr>',
    '<tr><td></td><td class="number">nan</td></tr>',
    "</tbody>",
    "</table>\n",
  }, "\n"))
end)

it("mr.table exports the best of each group and small p in bold, and prints them plain", function()
  local rows = { { 1, "a", 0.50001, 0.2 }, { 1, "b", 0.5, 0.04 }, { 2, "a", 0.25, 0.05 }, { 2, "b", 0 / 0 },
    { 2, "c", "none", 0.001 } }
  local columns, formats = { "nsr", "loss", "ndcg", "p" }, { ndcg = "%.3f" }
  local plain = mr.table{ columns = columns, rows = rows, formats = formats }
  local t = mr.table{ columns = columns, rows = rows, formats = formats, mark = { ndcg = "max", p = 0.05 },
    within = { "nsr" } }
  equal({ tostring(t), t:to_csv(), t:to_json() }, { tostring(plain), plain:to_csv(), plain:to_json() })
  equal(t:to_markdown(), table.concat({
    "| nsr | loss | ndcg | p |",
    "| ---: | --- | --- | ---: |",
    "| 1 | a | **0.500** | 0.2 |",
    "| 1 | b | **0.500** | **0.04** |",
    "| 2 | a | **0.250** | 0.05 |",
    "| 2 | b | nan |  |",
    "| 2 | c | none | **0.001** |",
    "",
  }, "\n"))
  check(t:to_latex():find("b & \\textbf{0.500} & \\textbf{0.04}", 1, true), t:to_latex())
  check(t:to_html():find('<td class="number"><strong>0.04</strong></td>', 1, true), t:to_html())
  equal(select(2, t:to_html():gsub("<strong>", "")), 5)
  local least = mr.table{ columns = { "rmse" }, rows = { { 3 }, { -1 }, { 2 } }, mark = { rmse = "min" } }
  equal(least:to_markdown():match "%*%*(.-)%*%*", "-1")
end)

it("mr.table refuses unknown columns and marks, and wrong rows and formats", function()
  raises(function() mr.table{ columns = { "a" }, mark = { b = "max" } } end, "'b'")
  raises(function() mr.table{ columns = { "a" }, mark = { a = "most" } } end, "mark", "most")
  raises(function() mr.table{ columns = { "a" }, within = { "c" } } end, "'c'")
  raises(function() mr.table{ columns = { "a" }, formats = { b = "%d" } } end, "'b'")
  raises(function() mr.table{ columns = { "a" }, rows = { { 1 }, 2 } } end, "mr.table", "2", "2")
  raises(function() mr.table{ columns = { "a" }, formats = { a = 4 } } end, "formats.a", "4")
  for _, format in ipairs{ "%d%", "%y", "%d %d", "%d" } do
    raises(function() mr.table{ columns = { "a" }, rows = { { 1.5 } }, formats = { a = format } } end,
      "mr.table", ("'%s'"):format(format), "1.5")
  end
  local late = mr.table{ columns = { "a" }, rows = { { 0 / 0 }, { 2 } }, formats = { a = "%d" } }
  equal(tostring(late), "  a\n---\nnan\n  2")
  late.rows[1][1] = 0.5
  raises(function() tostring(late) end, "%d", "0.5")

  it("mr.table prints long texts in time linear in their length", function()
    local shown = tostring(mr.table{ columns = { "a", "b" }, rows = { { ("x"):rep(200000), 1 }, { "y", 2 } } })
    check(#shown > 400000 and shown:find("\ny +%d", 1) ~= nil)
  end)
end)

describe("texts in exports of mr.table", function()
  local function rows_of(texts)
    local rows = {}
    for i, text in ipairs(texts) do rows[i] = { text } end
    return rows
  end

  -- Returns the lines of a CSV text with one column, whose texts have no quotes, commas or line ends.
  local function cells_of(csv)
    local cells = {}
    for line in csv:gmatch "([^\n]*)\n" do cells[#cells + 1] = line end
    return cells
  end

  it("cannot be formulas in a spreadsheet, and numbers stay numbers", function()
    local module = require "moonrank.table"
    local texts = { "=1+2", "+cmd", "-x", "@SUM(A1)", "\tx", "'=1", "''-a", "--", "-1.5.2", "+-1" }
    local cells = cells_of(mr.table{ columns = { "=head" }, rows = rows_of(texts) }:to_csv())
    equal(cells[1], "'=head")
    for i, text in ipairs(texts) do
      equal(cells[i + 1], "'" .. text)
      equal(module.text_of_csv(cells[i + 1]), text)
    end
    local plain = { "-1.5", "+3", "-1e-5", "a=b", "'quoted'", "it's", "'", "", "ndcg@10" }
    cells = cells_of(mr.table{ columns = { "a" }, rows = rows_of(plain) }:to_csv())
    for i, text in ipairs(plain) do
      equal(cells[i + 1], text)
      equal(module.text_of_csv(text), text)
    end
    equal(mr.table{ columns = { "a" }, rows = { { -1.5 }, { -2 }, { -1 / 0 } } }:to_csv(), "a\n-1.5\n-2\n-inf\n")
  end)

  it("are plain text in Markdown", function()
    local texts = { "<img src=x onerror=a>", "[a](http://b.c)", "![a](b)", "http://b.c", "www.b.c", "a@b.c", "`ls`",
      "**x**", "_x_", "__", "a|b", "\\|", "\27[2J", "a\rb", "a\r\nb", "# x" }
    local markdown = mr.table{ columns = { "a" }, rows = rows_of(texts), notes = texts }:to_markdown()
    equal(select(2, markdown:gsub("[^\n]+", "")), 2 + 2 * #texts)
    for _, pattern in ipairs{ "<", "[^\\]%]%(", "://", "www%.", "@b", "\r", "\27", "\n#", " %*%*", "[^\\]`", " _" } do
      check(not markdown:find(pattern), pattern .. " in " .. markdown)
    end
    for line in markdown:gmatch "| [^\n]+" do
      local bare = line:gsub("\\.", "")
      equal(select(2, bare:gsub("|", "")), 2, line)
    end
    local usual = "| distribution_logit ndcg@10 [0.1, 0.2] p = 0.05 |"
    equal(mr.table{ columns = { "a" }, rows = { { usual:sub(3, -3) } } }:to_markdown():match "([^\n]+)\n$", usual)
  end)

  it("stay in their cell in LaTeX and HTML", function()
    local t = mr.table{ columns = { "a", "b" }, rows = { { "[x]", "*y" }, { "a\rb", "\27[2J" } } }
    local latex = t:to_latex()
    check(latex:find("\n{[}x] & {*}y", 1, true) and latex:find("\na b & ", 1, true), latex)
    check(not latex:find "%c" or not latex:gsub("\n", ""):find "%c", latex)
    check(not t:to_html():gsub("\n", ""):find "%c", t:to_html())
  end)
end)

it("objects with a table export like it, and their exports refuse the name of a file", function()
  local fold = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }:binarize(4):folds{ k = 3 }[1]
  local record = mr.stats.summary(mr.tensor{ 1, 3 })
  local evaluation = mr.evaluate(mr.tensor{ 3, 2 }, mr.lists{ { 0, 1 } }, { "rr" })
  local recommended = mr.models.popularity{ fold = fold }:recommend{ k = 2 }
  for class, object in pairs{ Fold = fold, Record = record, Evaluation = evaluation, Recommendations = recommended } do
    for _, name in ipairs{ "to_csv", "to_json", "to_markdown", "to_latex", "to_html" } do
      local whole = object:table()
      equal(object[name](object), whole[name](whole))
      local takes_options = name == "to_latex" or name == "to_csv" and class == "Evaluation"
      raises(function() return object[name](object, "file") end,
        takes_options and "options is 'file'" or ("mr.%s:%s: argument 1"):format(class, name))
    end
  end
end)

it("records has the values of each row by column", function()
  local t = mr.table{ columns = { "loss", "ap" }, rows = { { "ndcg", 0.5 }, { "rr" } } }
  equal(t:records(), { { loss = "ndcg", ap = 0.5 }, { loss = "rr" } })
end)

it("a mark of the largest number leaves out groups of a single row", function()
  local t = mr.table{ columns = { "data", "ap" }, rows = { { "a", 0.5 }, { "a", 0.25 }, { "b", 0.75 } },
    mark = { ap = "max" }, within = { "data" } }
  local _, bold = t:to_markdown():gsub("%*%*[%d.]+%*%*", "")
  equal({ bold, t:to_markdown():find("**0.5**", 1, true) ~= nil }, { 1, true })
end)
