-- Tests figures that are drawn while the pages of the manual are built.
local test = require "moonrank.test"
local core = require "moonrank.core"
local figures = require "moonrank.manual.figures"
local markup = require "moonrank.manual.markup"
local program = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, check = test.it, test.equal, test.check

it("a figure is a picture within the page, with its caption and its code", function()
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  local body = markup.html('```figure A < `b` "c"\nreturn mr.plot.lines{ y = { 1, 2 } }\n```\n')
  local alt, width, picture =
    body:match '^<figure><img alt="([^"]*)" width="(%d+)" height="%d+" src="data:image/svg%+xml,([^"]*)">'
  check(alt == "A &lt; `b` &quot;c&quot;" and tonumber(width) <= 500, body:sub(1, 200))
  check(picture:find "^%%3Csvg" or picture:find "^%%3C%?xml", picture:sub(1, 60))
  check(not picture:find '[<>#\n]', "encoded")
  check(body:find("<figcaption>A &lt; <code>b</code>", 1, true), "caption")
  check(body:find "<details>.*mr%.plot%.lines", "code")
end)

it("wrong code of a figure is an error, not a page without the figure", function()
  test.raises(function() figures.html("return mr.plot.nosuch{}", "", "") end, "nosuch")
  test.raises(function() figures.html("return (", "", "") end, "figure")
end)

it("without gnuplot the page says so in one line, and `moonrank doc --html` still works", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local folder = sweeps.new_folder()
  local ok, said = program.run(("PATH=/nonexistent %s doc --html %s/pages"):format(program.moonrank, folder))
  check(ok, said)
  local page = sweeps.read(folder .. "/pages/guide_losses_and_bounds.html")
  local line = page:match '<p class="missing">([^\n]*)</p>'
  check(line and line:find("gnuplot", 1, true), "the line")
  equal(select(2, page:gsub("<figure", "")), 0)
end)

it("every figure of the manual is drawn", function()
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  local folder = sweeps.new_folder()
  require("moonrank.manual").write(folder .. "/pages")
  local count = 0
  for _, name in ipairs(core.list_folder(folder .. "/pages")) do
    local page = sweeps.read(folder .. "/pages/" .. name)
    check(not page:find('class="missing"', 1, true), name)
    count = count + select(2, page:gsub("<figure", ""))
  end
  check(count >= 12, count .. " figures")
end)
