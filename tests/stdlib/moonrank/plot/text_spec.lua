-- Tests that text in figures is drawn verbatim everywhere and that nothing in it is executed.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local text = require "moonrank.plot.text"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local function draws(name, body)
  it(name, function()
    if select(2, pcall(core.gnuplot, "")):find("not installed", 1, true) then
      return test.skip("gnuplot is not installed: " .. name)
    end
    body(sweeps.new_folder())
  end)
end

local texts = {
  "'best' loss", "it's", "'", "''", "'a''b'", "50 %", "%", "%%", "%1", "-%", "% g", "%d %s %g", "%h%c",
  "\"say\"", "\"", "\"'\"", "a\\b\\n", "\\",
  "a\\", "{/Symbol a}_b^c~d@e", "{", "}", "{{", "@x", "&{abc}", "~a{.8-}",
  "\\U+221e", "$HOME $(id)", "$d1", "#c", "a; b", "`id`", "`", "a & b < c > d",
  "é → 日本 ∞", "two  spaces", "EOD", "two\nlines", "x'y\nz'w'", "'\n%'", "plot sin(x)", "system('x')", "!ls",
  "[%", "a'.'b", "]]>", "a ]]> b]]]>", "]]&gt;",
  "x's @GPVAL_TERM", "it's @x", "'a' @x", "Li's loss, ndcg@10", "'{ @x", "'}", "a'`id`", "@", "@@x'@x",
}

-- Counts how often each text occurs in an SVG.
local function words_of(path)
  local words = {}
  for each in sweeps.read(path):gmatch "<text[^>]*>(.-)</text>" do
    each = each:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"')
    each = each:gsub("&apos;", "'"):gsub("&amp;", "&")
    words[each] = (words[each] or 0) + 1
  end
  return words
end

-- Returns figures that have the text t at every place where figures draw text. Each comes with two counts: at how many
-- places line breaks are kept, and at how many the text is on one line.
local function figures(t)
  local two = { { y = { 1, 2 }, name = t }, { y = { 2, 1 }, name = "other" } }
  local w, h = 1200, 500
  return {
    { 2, 4, mr.plot.lines{ series = two, title = t, caption = t, xlabel = t, ylabel = t, vlines = { { 1.5, t } },
      legend = "legend", width = w, height = h } },
    { 0, 1, mr.plot.lines{ series = two, legend = "labels", width = w, height = h } },
    { 1, 1, mr.plot.bars{ categories = { t, "q" },
      series = { { values = { 1, 2 }, name = t }, { values = { 2, 1 }, name = "r" } }, width = w, height = h } },
    { 2, 0, mr.plot.heatmap{ y = { t, "r" }, x = { "c", t }, values = { { 1, 2 }, { 3, 4 } }, width = w, height = h } },
    { 1, 0, mr.plot.facets{ mr.plot.lines{ y = { 1, 2 } }, mr.plot.lines{ y = { 2, 1 } },
      title = t, width = w, height = h } },
  }
end

draws("text of figures is drawn verbatim in SVG", function(folder)
  for _, t in ipairs(texts) do
    for i, each in ipairs(figures(t)) do
      each[3]:save(folder .. "/figure.svg")
      local words, expected, one = words_of(folder .. "/figure.svg"), {}, t:gsub("\n", " ")
      for line in (t .. "\n"):gmatch "(.-)\n" do expected[line] = (expected[line] or 0) + each[1] end
      expected[one] = (expected[one] or 0) + each[2]
      for line, count in pairs(expected) do
        if line ~= "" then equal(words[line] or 0, count, ("figure %d of '%s': '%s'"):format(i, t, line)) end
      end
    end
  end
end)

draws("text of figures is drawn verbatim in the terminal", function()
  for _, t in ipairs(texts) do
    local one = t:gsub("\n", " ")
    for i, lines in pairs{ { t, one }, [3] = { t, one } } do
      local drawn = core.gnuplot(figures(t)[i][3]:script "text")
      for line in (table.concat(lines, "\n") .. "\n"):gmatch "(.-)\n" do
        check(drawn:find(line, 1, true), ("'%s': no '%s' in\n%s"):format(t, line, drawn))
      end
    end
  end
end)

draws("text of figures is drawn into PNG and PDF files", function(folder)
  for _, t in ipairs{ "'best' 50 %", "a\n'%'", "{/Symbol a}_b `id` \\" } do
    for where, each in ipairs(figures(t)) do
      local figure = each[3]
      check(sweeps.read(figure:save(folder .. "/f.png") and folder .. "/f.png"):find "^\x89PNG", "figure " .. where)
      check(sweeps.read(figure:save(folder .. "/f.pdf") and folder .. "/f.pdf"):find "^%%PDF", "figure " .. where)
    end
  end
end)

draws("tick labels are not cut, with or without a percent sign", function(folder)
  local long = ("word "):rep(9)
  for _, t in ipairs{ "%" .. long:sub(1, -2), "x" .. long:sub(1, -2), "100 %é" .. ("∞"):rep(30) } do
    mr.plot.heatmap{ y = { t, "r" }, x = { "c", t }, values = { { 1, 2 }, { 3, 4 } }, width = 1500 }
      :save(folder .. "/f.svg")
    check(words_of(folder .. "/f.svg")[t], t)
    mr.plot.bars{ categories = { t, "b", "c", "d" }, values = { 1, 2, 3, 4 }, width = 1800 }:save(folder .. "/f.svg")
    check(words_of(folder .. "/f.svg")[t], t)
  end
end)

it("text of figures raises an error if it contains control characters", function()
  for _, bad in ipairs{ "\27[2J", "a\0b", "a\rb", "\x7f", "a\u{9b}2Jb", "\u{80}" } do
    raises(function() text.quote(bad) end, "control character")
    raises(function() mr.plot.lines{ y = { 1, 2 }, title = bad } end, "control character")
    raises(function() mr.plot.facets{ mr.plot.lines{ y = { 1 } }, title = bad } end, "control character")
    raises(function() mr.plot.lines{ y = { 1, 2 }, caption = bad } end, "control character")
  end
  equal(text.quote "\u{a0}", "'\u{a0}'")
end)

draws("figures with ]]> in a label are well-formed SVG", function(folder)
  local label = "a ]]> <b> & ]]]>"
  local series = { { name = label, y = { 1, 2 } }, { name = "c", y = { 2, 1 } } }
  mr.plot.lines{ series = series, title = label, xlabel = label, ylabel = label, caption = label }
    :save(folder .. "/a.svg")
  local svg = sweeps.read(folder .. "/a.svg")
  check(svg:find("]]&gt;", 1, true) and not svg:find("]]>", 1, true), "]]> outside of CDATA")
  raises(function() mr.plot.lines{ y = { 1, 2 }, title = "a\u{FFFE}" }:save(folder .. "/b.svg") end, "FFFE")
end)
