-- Tests figures by reading back what gnuplot drew, from its SVG.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local moonrank = dofile("tests/support/program.lua").moonrank
local text = require "moonrank.plot.text"
local describe, equal, near, check, raises = test.describe, test.equal, test.near, test.check, test.raises

local nan, inf = 0 / 0, math.huge
local gnuplot_is_here = not select(2, pcall(core.gnuplot, "")):find("not installed", 1, true)

-- Adds a test that needs gnuplot.
local function draws(name, body)
  test.it(name, function()
    if not gnuplot_is_here then return test.skip("gnuplot is not installed: " .. name) end
    body()
  end)
end

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

local new_folder, output_of, read = files.new_folder, files.output, files.read

local function files_in(folder)
  local names = {}
  for name in output_of("ls -A " .. quoted(folder)):gmatch("[^\n]+") do names[#names + 1] = name end
  return names
end

-- Draws a figure. Returns its SVG, its texts, and its lines by colour, each a list of {x, y} in pixels with y
-- downwards.
local function svg_of(figure)
  local path = files.new_path ".svg"
  figure:save(path)
  local svg = read(path)
  local words = {}
  for each in svg:gmatch("<text[^>]*>(.-)</text>") do
    each = each:gsub("<[^>]*>", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&amp;", "&")
    words[#words + 1] = each
    words[each] = true
  end
  return svg, words
end

local function lines_of(svg, rgb)
  local lines = {}
  for color, d in svg:gmatch("<path stroke='(#%x+)'[^>]-d='([^']*)'") do
    if color == rgb:lower() then
      for command, x, y in d:gmatch("([ML])([%d.]+),([%d.]+)") do
        if command == "M" then lines[#lines + 1] = {} end
        table.insert(lines[#lines], { tonumber(x), tonumber(y) })
      end
    end
  end
  return lines
end

local blue, vermillion = "#0072B2", "#D55E00"

-- Converts the points of a line from pixels into numbers, if the numbers of its first and last point are known.
local function unplaced(line, first, last)
  local a, b, found = line[1], line[#line], {}
  for i, point in ipairs(line) do
    for k = 1, 2 do found[2 * i - 2 + k] = first[k] + (point[k] - a[k]) / (b[k] - a[k]) * (last[k] - first[k]) end
  end
  return found
end

describe("texts in a figure's script", function()
  test.it("are in single quotes, and control characters are refused", function()
    equal(text.quote("plain"), "'plain'")
    equal(text.quote("it's `ls` \"$HOME\" \\n"), [['it'."\047".'s `ls` "$HOME" \n']])
    equal(text.quote("two\nlines"), "'two'.\"\\n\".'lines'")
    raises(function() text.quote("a\0b") end, "control character")
    raises(function() text.quote("\xff") end, "'\\xff'", "UTF-8")
  end)

  draws("appear unchanged in the figure and run no command", function()
    local folder = new_folder()
    local first = "`touch " .. folder .. "/a` $(touch " .. folder .. "/b) it's \"so\" & <b> \\n"
    local nasty = { first, "a_b^c {x} @y ~z %d #1 'q' ; system('x')", "expectation_max" }
    local figure = mr.plot.lines{ series = { { name = nasty[2], y = { 1, 2 } }, { name = nasty[3], y = { 2, 1 } } },
      title = "one\n" .. nasty[3], caption = nasty[3], xlabel = nasty[1], ylabel = nasty[2],
      hlines = { { 1.5, nasty[2] } }, vlines = { { 1.5, nasty[1] } }, width = 2000 }
    local _, words = svg_of(figure)
    for _, each in ipairs(nasty) do check(words[each], "shows " .. each) end
    check(words.one, "shows the first line of the title")
    equal(files_in(folder), {})
  end)
end)

describe("mr.plot.lines", function()
  draws("draws lines through the given points", function()
    local svg = svg_of(mr.plot.lines{ series = { { name = "up", x = { 0, 1, 4 }, y = { 0, 3, 4 } },
      { name = "down", x = mr.tensor{ 0, 2, 4 }, y = mr.tensor({ 4, 1, 0 }, { dtype = "float64" }) } } })
    local up, down = lines_of(svg, blue), lines_of(svg, vermillion)
    near(unplaced(up[1], { 0, 0 }, { 4, 4 }), { 0, 0, 1, 3, 4, 4 }, { atol = 0.02 })
    near(unplaced(down[1], { 0, 4 }, { 4, 0 }), { 0, 4, 2, 1, 4, 0 }, { atol = 0.02 })
  end)

  draws("counts from 1 without x, and takes tensors with gradients and of integers", function()
    local svg = svg_of(mr.plot.lines{ y = mr.tensor{ 1, 2, 4, 8 }:requires_grad() })
    near(unplaced(lines_of(svg, blue)[1], { 1, 1 }, { 4, 8 }), { 1, 1, 2, 2, 3, 4, 4, 8 }, { atol = 0.03 })
    svg = svg_of(mr.plot.lines{ y = mr.tensor({ 3, 0, 6 }, { dtype = "int64" }) })
    near(unplaced(lines_of(svg, blue)[1], { 1, 3 }, { 3, 6 }), { 1, 3, 2, 0, 3, 6 }, { atol = 0.03 })
  end)

  draws("leaves gaps at NaN and infinity, and draws an isolated point as a dot", function()
    local svg = svg_of(mr.plot.lines{ x = { 1, 2, 3, 4, 5, 6, 7 }, y = { 1, 2, nan, 5, inf, 4, 6 } })
    local lines = lines_of(svg, blue)
    equal({ #lines, #lines[1], #lines[2], #lines[3] }, { 3, 2, 1, 2 })
    local _, dots = svg:gsub("<use xlink:href='#gpPt6'", "")
    equal(dots, 1)
  end)

  draws("draws numbers that differ by less than 1e-10 of their size, on any axis", function()
    local close = { 1e18, 1e18 + 1024 }
    for _, o in ipairs{ { y = close }, { x = close, y = { 1, 2 } }, { x = close, y = close, xlog = true, ylog = true },
      { y = { 1e10, 1e10 } }, { y = { 1, 1 + 2e-10 } }, { y = { 1, 2 }, yrange = { 1, 1 + 1e-14 } } } do
      local line = lines_of(svg_of(mr.plot.lines(o)), blue)[1]
      check(line, "a line through " .. tostring(o.y[1]))
    end
    local _, words = svg_of(mr.plot.heatmap{ values = { close, close } })
    check(words["1e18"], "a colour bar with the number")
    svg_of(mr.plot.ecdf{ values = close })
    svg_of(mr.plot.bars{ categories = { "a", "b" }, values = close, labels = true })
    svg_of(mr.plot.parallel{ axes = { { values = close }, { values = { 1, 2 } } }, color = close })
  end)

  test.it("and other figures refuse numbers that are too large, or too small for a logarithmic axis", function()
    local function refuses(kind, o, argument, found)
      raises(function() mr.plot[kind](o) end, "mr.plot." .. kind, argument, found, "1e150", "power of ten")
    end
    refuses("lines", { y = { 1e300, 1e301 } }, "y", "1e+300")
    refuses("lines", { y = { 1e151, 1, 2 } }, "y", "1e+151")
    refuses("lines", { y = { 1, 2 }, x = { -1e151, 1 } }, "x", "-1e+151")
    refuses("lines", { y = { 1, 2 }, low = { 0, 0 }, high = { 2, 1e200 } }, "y", "1e+200")
    refuses("lines", { y = { 1, 2 }, points = { y = { 1e200 } } }, "y", "1e+200")
    refuses("lines", { y = { 1e-200, 1 }, ylog = true }, "y", "1e-200")
    refuses("scatter", { y = { 1e200, 1 }, diagonal = true }, "y", "1e+200")
    refuses("ecdf", { values = { 1e200, 1 } }, "values", "1e+200")
    refuses("heatmap", { values = { { 1e308, 2 }, { 0, 1 } } }, "values", "1e+308")
    refuses("heatmap", { values = { { 1e308, 2 }, { 0, 1 } }, zrange = { 0, 1 } }, "values", "1e+308")
    for _, kind in ipairs{ "bars", "intervals" } do
      refuses(kind, { categories = { "a", "b" }, values = { 1, 1e200 } }, "values", "1e+200")
      refuses(kind, { categories = { "a" }, values = { 1 }, low = { -1e200 }, high = { 2 } }, "values", "-1e+200")
    end
    local two = { values = { 1, 2 } }
    refuses("parallel", { axes = { { name = "lr", values = { 1e200, 2 } }, two }, color = { 1, 2 } }, "'lr'", "1e+200")
    refuses("parallel", { axes = { two, two }, color = { 1, 1e200 } }, "color", "1e+200")
    raises(function() mr.plot.lines{ y = { 1, 2 }, hlines = { 1e200 } } end, "hlines", "1e+200", "1e150")
    raises(function() mr.plot.lines{ y = { 1, 2 }, ylog = true, yrange = { 1e-200, 1 } } end, "yrange", "1e-150")
    check(mr.plot.lines{ y = { 1e150, -1e150, nan, inf } }, "numbers up to the limit, NaN and infinity are drawn")
  end)

  draws("draws powers as straight lines on logarithmic axes", function()
    local svg, words = svg_of(mr.plot.lines{ x = { 1, 10, 100 }, y = { 1, 100, 10000 }, xlog = true, ylog = true })
    near(unplaced(lines_of(svg, blue)[1], { 0, 0 }, { 2, 4 }), { 0, 0, 1, 2, 2, 4 }, { atol = 0.01 })
    for _, tick in ipairs{ "1", "10", "100" } do check(words[tick], "a tick at " .. tick) end
  end)

  draws("draws a band between low and high", function()
    local svg = svg_of(mr.plot.lines{ y = { 1, 2, 1 }, low = { 0, 1, 0 }, high = { 2, 3, 2 } })
    local corners = 0
    for _ in svg:match("<polygon[^>]*fill%-opacity = '0.18[^>]*points = '([^']*)'"):gmatch("[%d.]+,[%d.]+") do
      corners = corners + 1
    end
    check(corners >= 6, "three corners above and three below")
  end)

  draws("labels lines at their ends, or in a legend if the ends are close", function()
    local function lines_of_first(a, b, c)
      local series = { { name = "first", y = { 0, a } }, { name = "second", y = { 10, b } },
        { name = "third", y = { 10, c } } }
      return #lines_of(svg_of(mr.plot.lines{ series = series }), blue)
    end
    equal(lines_of_first(1, 9, 5), 1)
    equal(lines_of_first(5, 5, 5), 2)  -- two lines of this colour: the curve and its sample in the legend
    local apart = { { name = "a", y = { 1 } }, { name = "b", y = { 2 } } }
    local _, words = svg_of(mr.plot.lines{ series = apart, legend = "none" })
    check(not words.a and not words.b, "no names")
  end)

  draws("draws the given ranges of the axes", function()
    local svg, words = svg_of(mr.plot.lines{ y = { 0, 1, 0.5 }, yrange = { 0, 2 }, xrange = { 1, 3 }, legend = "none" })
    local line = lines_of(svg, blue)[1]
    check(words["2.00"] and not words["-0.25"], "the range is from 0 to 2")
    -- the value 1 is in the middle of the axis from 0 to 2; the plot's box is 360 to 400 pixels high
    check(math.abs((line[1][2] - line[2][2]) / 190 - 1) < 0.1, "half as high as the box")
  end)
end)

draws("mr.plot.scatter draws one mark per point that is not NaN or infinite, and a diagonal", function()
  local svg = svg_of(mr.plot.scatter{ series = { { name = "a", x = { 1, 2, nan, 4 }, y = { 1, 5, 3, inf } },
    { name = "b", x = { 3 }, y = { 2 } } }, legend = "none", diagonal = true })
  local _, circles = svg:gsub("<use xlink:href='#gpPt6'", "")
  local _, triangles = svg:gsub("<use xlink:href='#gpPt8'", "")
  equal({ circles, triangles }, { 2, 1 })
  local diagonal = lines_of(svg, "#888888")
  equal(#diagonal, 1)
end)

describe("mr.plot.ecdf", function()
  draws("draws a step at every value, without NaN", function()
    local svg = svg_of(mr.plot.ecdf{ values = { 0.4, nan, 0.2, 0.8, 0.4 }, xrange = { 0, 1 }, yrange = { 0, 1 } })
    near(unplaced(lines_of(svg, blue)[1], { 0, 0 }, { 1, 1 }),
      { 0, 0, 0.2, 0, 0.2, 0.25, 0.4, 0.25, 0.4, 0.75, 0.8, 0.75, 0.8, 1, 1, 1 }, { atol = 0.01 })
  end)

  draws("draws 50000 values with fewer points, within a quarter of a pixel", function()
    local n = 50000
    local values = {}
    for i = 1, n do values[i] = (i / n) ^ 2 end
    local script = mr.plot.ecdf{ values = values, xrange = { 0, 1 } }:script()
    local rows, worst = 0, 0
    for x, y in script:match("<< EOD\n(.-)EOD"):gmatch("(%S+) (%S+)\n") do
      x, y, rows = tonumber(x), tonumber(y), rows + 1
      -- the curve is the square root, so y * y - x is 0 except for the position of the drawn step
      worst = math.max(worst, math.abs(y * y - x))
    end
    check(rows < 9000, rows .. " rows")
    check(worst < 1 / 2000, "off by " .. worst)
  end)
end)

describe("mr.plot.bars", function()
  draws("draws bars as high as their values, also negative ones", function()
    local svg, words = svg_of(mr.plot.bars{ categories = { "ap", "nrbp_loss", "none" }, legend = "none",
      series = { { name = "x", values = { 2, -1, nan }, errors = { 0.5, nan, 1 } },
        { name = "y", values = { 1, 4, 3 } } } })
    local heights = {}
    for rgb, points in svg:gmatch("<polygon fill = '(#%x+)'[^>]-points = '([^']*)'") do
      local low, high = inf, -inf
      for y in points:gmatch(",([%d.]+)") do low, high = math.min(low, tonumber(y)), math.max(high, tonumber(y)) end
      heights[rgb] = heights[rgb] or {}
      table.insert(heights[rgb], high - low)
    end
    local xs, ys = heights[blue:lower()], heights[vermillion:lower()]
    near({ xs[1] / ys[1], xs[2] / ys[1], ys[2] / ys[1], ys[3] / ys[1] }, { 2, 1, 4, 3 }, { atol = 0.02 })
    equal(#xs, 2)
    check(words.nrbp_loss and words.ap and words.none, "categories")
  end)

  draws("draws horizontal bars, and refuses yrange with them", function()
    local figure = mr.plot.bars{ categories = { "a", "b" }, values = { 1, 2 }, errors = { 0.1, 0.2 },
      horizontal = true, xlabel = "nDCG" }
    local _, words = svg_of(figure)
    check(words.a and words.b and words.nDCG, "words")
    raises(function() mr.plot.bars{ categories = { "a" }, values = { 1 }, horizontal = true, yrange = { 0, 1 } } end,
      "mr.plot.bars", "axis")
  end)

  draws("writes each value beyond the end of its bar, or of its error bar", function()
    local o = { categories = { "a", "b", "c" }, values = { 8, -3, nan }, labels = "%.2f" }
    local function places(horizontal, errors)
      o.horizontal, o.errors = horizontal, errors
      local svg, words = svg_of(mr.plot.bars(o))
      check(not words.nan, "NaN has no label")
      local x, y = svg:match 'translate%(([%d.]+),([%d.]+)%)"[^>]*>%s*<text>8%.00<'
      local x2, y2 = svg:match 'translate%(([%d.]+),([%d.]+)%)"[^>]*>%s*<text>%-3%.00<'
      return { tonumber(x), tonumber(x2) }, { tonumber(y), tonumber(y2) }, svg
    end
    local _, y, svg = places(false)
    local ys = {}
    for points in svg:gmatch "<polygon fill = '#%x+'[^>]-points = '([^']*)'" do
      for each in points:gmatch ",([%d.]+)" do ys[#ys + 1] = tonumber(each) end
    end
    check(y[1] < math.min(table.unpack(ys)) and y[2] > math.max(table.unpack(ys)), "above and below the bars")
    local x = places(true)
    check(x[1] > x[2], "right and left of the bars")
    o.yrange = { -9, 12 }
    local near_bar, near_error = select(2, places(false)), select(2, places(false, { 2, 2, 2 }))
    check(near_error[1] < near_bar[1] - 5 and near_error[2] > near_bar[2] + 5, "beyond the error bars")
  end)

  test.it("refuses labels that are not a format", function()
    raises(function() mr.plot.bars{ categories = { "a" }, values = { 1 }, labels = "%q %d" } end, "mr.plot.bars",
      "labels")
  end)
end)

describe("mr.plot.heatmap", function()
  draws("draws a cell per number with its label and colour", function()
    local svg, words = svg_of(mr.plot.heatmap{ values = mr.tensor{ { 1, 2, 3 }, { 4, nan, 6 } }, labels = "%.1f",
      x = { 10, 20, 50 }, y = { "low", "high" }, zlabel = "gain" })
    for _, word in ipairs{ "1.0", "2.0", "3.0", "4.0", "6.0", "10", "20", "50", "low", "high", "gain" } do
      check(words[word], word)
    end
    -- the lowest and the highest colour of the palette viridis
    check(svg:find("'#440154'", 1, true) and svg:find("'#fde725'", 1, true),
      "the lowest and the highest have the palette's ends")
  end)

  draws("draws 0 as white with diverging = true", function()
    local svg = svg_of(mr.plot.heatmap{ values = { { -1, 0, 4 } }, diverging = true })
    check(svg:find("'#f7f7f7'", 1, true), "0 is near white")
    check(svg:find("'#b2182b'", 1, true), "4 is the end of red")
  end)

  draws("draws the script's own labels in cells, also for NaN", function()
    local _, words = svg_of(mr.plot.heatmap{ values = { { 0.123, nan } }, labels = { { "best", "none" } },
      x = { "a", "b" } })
    check(words.best and words.none and not words["0.123"], "words for numbers")
  end)

  draws("shares one colour bar in mr.plot.facets, with all names below each panel", function()
    local names = { "minmax", "expectation", "expectation_max", "zscore", "distribution_logit" }
    local function panel(legend)
      return mr.plot.heatmap{ values = { { 0.15, 0.2, 0.3, 0.4, 0.45 } }, x = names,
        y = { "a rather long name of a row" }, zrange = { 0, 0.5 }, legend = legend }
    end
    local three = mr.plot.facets{ panel "none", panel "none", panel "auto", columns = 3, width = 700, height = 300 }
    local _, words = svg_of(three)
    local count = {}
    for _, word in ipairs(words) do count[word] = (count[word] or 0) + 1 end
    for _, name in ipairs(names) do equal({ name, count[name] }, { name, 3 }) end
    equal({ count["0.2"], count["0.4"] }, { 1, 1 })
  end)
end)

draws("mr.plot.facets draws panels in rows with one shared legend", function()
  local function figure(i)
    return mr.plot.lines{ series = { { name = "shared", y = { i, 2 } }, { name = "other", y = { 1, i } } },
      title = "panel " .. i, xlabel = "x" }
  end
  local f = mr.plot.facets{ figure(1), figure(2), figure(3), columns = 2, title = "all of them",
    width = 700, height = 500 }
  equal(tostring(f), "mr.Figure facets: 3 panels, 'all of them'")
  local svg, words = svg_of(f)
  local shared = 0
  for _, word in ipairs(words) do shared = shared + (word == "shared" and 1 or 0) end
  equal(shared, 1)
  for i = 1, 3 do check(words["panel " .. i], "title of panel " .. i) end
  check(svg:find('viewBox="0 0 700 500"', 1, true), "its size")
  equal(#lines_of(svg, blue), 4)
end)

describe("mr.Figure", function()
  draws("has another colour on a dark screen for its background and for each colour of its axes and texts", function()
    local reference = { y = { 1, 4, 9 }, title = "t", caption = "c", hlines = { { 4, "four" } } }
    local bars = { categories = { "a" }, values = { 1 }, errors = { 0.1 }, labels = true }
    for _, figure in ipairs{ mr.plot.lines(reference), mr.plot.bars(bars) } do
      local svg = figure:to_svg()
      local style = svg:match "<style>(.-)</style>"
      check(style and style:find("prefers-color-scheme:dark", 1, true), "a style sheet for dark screens")
      check(style:find('rect[fill="#ffffff"]{fill:#', 1, true) and svg:find '<rect [^>]*fill="#ffffff"', "background")
      local colors = 0
      for property, color in svg:gmatch "[ <](%l+)%s*=%s*['\"](#%x+)" do
        if property == "stroke" or property == "fill" and color ~= "#ffffff" then
          colors = colors + 1
          check(style:find(('[%s="%s"]{%s:#'):format(property, color, property), 1, true), property .. color)
        end
      end
      check(colors > 10, colors)
    end
  end)
  draws("keeps the colours of a heat map's cells, and inverts parallel coordinates, on a dark screen", function()
    local svg = mr.plot.heatmap{ values = { { 1, 2 } } }:to_svg()
    local style, cells = svg:match "<style>(.-)</style>", 0
    for color in svg:gmatch "<polygon fill = '(#%x+)'" do
      cells = cells + 1
      check(not style:find(('[fill="%s"]'):format(color), 1, true), color)
    end
    check(cells >= 2, cells)
    local axes = { { name = "lr", values = { 1, 2 } }, { values = { 1, 3 } } }
    check(mr.plot.parallel{ axes = axes, color = { 1, 2 } }:to_svg():find('class="inverted"', 1, true), "inverted")
  end)
  test.it("prints its kind, size and title in one line", function()
    local two = mr.plot.lines{ series = { { y = { 1 } }, { y = { 2 } } }, title = "T" }
    equal(tostring(two), "mr.Figure lines: 2 series, 'T'")
    equal(tostring(mr.plot.scatter{ y = { 1 } }), "mr.Figure scatter: 1 series")
    equal(tostring(mr.plot.heatmap{ values = { { 1 }, { 2 } } }), "mr.Figure heatmap: 2 x 1")
  end)

  test.it("leaves the option table unchanged", function()
    local options = { x = { 1, 2 }, y = { 3, nan }, vlines = { 1 }, hlines = { 2 } }
    mr.plot.lines(options)
    equal(options, { x = { 1, 2 }, y = { 3, nan }, vlines = { 1 }, hlines = { 2 } })
  end)

  draws("saves SVG, PNG and PDF", function()
    local folder = new_folder()
    local f = mr.plot.lines{ y = { 1, 2 }, width = 300, height = 200 }
    for extension, start in pairs{ svg = "<?xml", png = "\x89PNG\r\n\x1a\n", PDF = "%PDF-" } do
      local path = folder .. "/it's a figure." .. extension
      equal(f:save(path) == f, true)
      equal(read(path):sub(1, #start), start)
    end
    local png = read(folder .. "/it's a figure.png")
    local wide, high = (">I4I4"):unpack(png, 17)
    equal({ wide, high }, { 300, 200 })
    equal(#files_in(folder), 3)
  end)

  draws("saves into missing folders, and refuses a path below a file", function()
    local folder = new_folder()
    local f = mr.plot.lines{ y = { 1, 2 } }
    f:save(folder .. "/missing/deep/a.svg")
    check(io.open(folder .. "/missing/deep/a.svg"):close(), "the file is there")
    raises(function() f:save(folder .. "/missing/deep/a.svg/b.svg") end, folder .. "/missing/deep/a.svg")
  end)

  draws("leaves nothing behind if it cannot be saved", function()
    local folder = new_folder()
    local f = mr.plot.lines{ y = { 1, 2 } }
    raises(function() f:save(folder .. "/a.gif") end, "extension", "'gif'")
    raises(function() f:save(folder .. "/plain") end, "extension")
    os.execute("mkdir " .. quoted(folder .. "/taken.svg"))
    raises(function() f:save(folder .. "/taken.svg") end, "save", "folder")
    equal(files_in(folder), { "taken.svg" })
    os.execute("mkfifo " .. quoted(folder .. "/pipe.svg"))
    raises(function() f:save(folder .. "/pipe.svg") end, "pipe.svg", "file")
    equal(files_in(folder), { "pipe.svg", "taken.svg" })
  end)

  draws("shows itself as text within the terminal's width", function()
    local code = [[require("moonrank").plot.lines{ name = "minmax", y = { 1, 3, 2 }, title = "a_title",
      xlabel = "epoch" }:show()]]
    local out = output_of(("COLUMNS=60 %s -e %s 2>&1"):format(quoted(moonrank), quoted(code)))
    check(out:find("minmax", 1, true) and out:find("a_title", 1, true) and out:find("epoch", 1, true), out)
    for line in out:gmatch("[^\n]+") do check(#line <= 60, line) end
  end)

  test.it("says how to install gnuplot if it is missing", function()
    local code = [[require("moonrank").plot.lines{ y = { 1, 2 } }:show()]]
    local out = output_of(("PATH=/nowhere %s -e %s 2>&1"):format(quoted(moonrank), quoted(code)))
    check(out:find("gnuplot", 1, true) and out:find("apt install gnuplot-nox", 1, true), out)
  end)
end)

describe("core.gnuplot", function()
  draws("returns gnuplot's output of any length", function()
    equal(core.gnuplot("set print '-'\nprint 6 * 7"), "42\n")
    local rows = {}
    for i = 1, 200000 do rows[i] = ("%d %d"):format(i, i * i % 97) end
    local out = core.gnuplot("$d << EOD\n" .. table.concat(rows, "\n") ..
      "\nEOD\nset print '-'\nprint $d[200000]\ndo for [i=1:40000] { print i }\n")
    check(out:find("200000 " .. 200000 * 200000 % 97 .. "\n", 1, true), "the last row arrived")
    check(out:find("40000\n$"), "the last line came back")
  end)

  draws("raises gnuplot's error message", function()
    raises(function() core.gnuplot("plot nothing_of_this_name") end, "gnuplot failed: ")
    raises(function() core.gnuplot("plot nothing_of_this_name") end, "0", "nothing_of_this_name")
    -- gnuplot exits at the first line, so writing the long rest of the script fails
    raises(function() core.gnuplot("bogus\n" .. ("# filler\n"):rep(200000)) end, "invalid command")
  end)
end)

describe("mr.plot with wrong options", function()
  local function mistake(kind, options, ...)
    local words = { ... }
    local keys = {}
    for key in pairs(options) do keys[#keys + 1] = tostring(key) end
    table.sort(keys)
    local name = ("%s{%s} raises an error with %s"):format(kind, table.concat(keys, ", "), table.concat(words, ", "))
    test.it(name, function()
      raises(function() mr.plot[kind](options) end, table.unpack(words))
    end)
  end
  mistake("lines", {}, "{y = ...}", "series")
  mistake("lines", { series = {} }, "series", "empty")
  mistake("lines", { y = {} }, "mr.plot.lines", "1")
  mistake("lines", { series = { { name = "minmax", x = { 1, 2 }, y = { 1 } } } }, "'minmax'", "2", "1")
  mistake("lines", { series = { { name = "minmax", y = { 1, 2 }, low = { 1 }, high = { 1, 2 } } } }, "1", "2")
  mistake("lines", { y = { 1 }, low = { 1 } }, "mr.plot.lines", "low", "high")
  mistake("lines", { y = { 1, "2" } }, "2", "1", "'2'")
  mistake("lines", { y = mr.ones{ 2, 2 } }, "1", "tensor", "2", "dimensions")
  mistake("lines", { y = { nan, inf } }, "entry", "NaN")
  mistake("lines", { y = { -1, 0 }, ylog = true }, "entry", "NaN", "positive")
  mistake("lines", { y = { 1 }, yrange = { 2, 1 } }, "yrange", "{2, 1}")
  mistake("lines", { y = { 1 }, xlog = true, xrange = { 0, 1 } }, "mr.plot.lines", "0")
  mistake("lines", { y = { 1 }, colour = 1 }, "'colour'", "'color'")
  mistake("lines", { y = { 1 }, style = "dahsed" }, "'dahsed'", "'dashed'")
  mistake("lines", { y = { 1 }, legend = "label" }, "'label'", "'labels'")
  mistake("lines", { y = { 1 }, points = { x = { 1 }, y = { 1, 2 } } }, "mr.plot.lines", "points)", "1")
  mistake("lines", { y = { 1 }, width = 3 }, "width", "3")
  mistake("lines", { y = { 1 }, series = { { y = { 1 } } } }, "mr.plot.lines")
  mistake("lines", { y = { 1 }, vlines = { "x" } }, "vlines", "x", "1", "number")
  mistake("lines", { y = { 1 }, shade = { { from = 2, to = 1 } } }, "1", "shade", "2")
  mistake("lines", { y = { 1 }, shade = { from = 1, to = 2 } }, "shade", "field")
  mistake("lines", { y = mr.lists{ { 1, 0 } } }, "1", "mr.Lists")
  mistake("facets", { mr.plot.lines{ y = { 1 } }, width = "wide" }, "width", "'wide'")
  mistake("ecdf", { values = { nan } }, "1", "NaN")
  mistake("bars", { values = { 1 } }, "mr.plot.bars", "categories")
  mistake("bars", { categories = { "a" }, values = { 1, 2 } }, "2", "1")
  mistake("heatmap", {}, "mr.plot.heatmap", "values")
  mistake("heatmap", { values = { { 1, 2 }, { 3 } } }, "2", "1", "row", "values")
  mistake("heatmap", { values = { { 1, 2 } }, x = { "a" } }, "x", "1", "2")
  mistake("heatmap", { values = { { 1, 2 } }, labels = { { "a" } } }, "labels", "1")
  mistake("heatmap", { values = { { 1 }, { 2 } }, labels = { { "a" } } }, "labels", "2")
  mistake("heatmap", { values = { { 1 } }, labels = "%d %d %q" }, "mr.plot.heatmap", "labels")
  mistake("facets", {}, "mr.plot.facets")
  mistake("facets", { 3 }, "1", "3")
end)

draws("points behind mr.plot.lines widen the axes, and are not drawn outside given ranges", function()
  local fit = { x = { 1, 2 }, y = { 0, 0 } }
  local free, bounded = mr.plot.lines{ series = { fit }, points = { x = { 1, 1.5, 4 }, y = { 3, -1, 0 } } },
    mr.plot.lines{ series = { fit }, points = { x = { 1, 1.5, 4 }, y = { 3, -1, 0 } }, yrange = { -2, 2 } }
  equal(select(2, svg_of(free):gsub("#gpPt6", "")), 3)
  equal(select(2, svg_of(bounded):gsub("#gpPt6", "")), 2)
end)

draws("extreme numbers in mr.plot.lines give a complete picture", function()
  for _, y in ipairs{ { 5e-324, 1e-323 }, { 1, 1 + 1e-15 }, { math.maxinteger, 1 }, { 1e-100, 1e100 },
    { 1, 1e150 }, { 3 } } do
    local svg = svg_of(mr.plot.lines{ y = y, ylog = y[2] == 1e100 })
    check(svg:find("</svg>", 1, true), "a whole picture")
  end
end)
