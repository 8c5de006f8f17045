-- Tests that the tables of docs/speed.md and the chart of the README agree with the files in docs/speed.
local test = require "moonrank.test"
local core = require "moonrank.core"
local describe, it = test.describe, test.it
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local program = dofile(here .. "../support/program.lua")
local bench_folder, docs = here, here .. "../../docs/"
local gnuplot_is_here = not select(2, pcall(core.gnuplot, "")):find("not installed", 1, true)

local function run(command) return program.run(("'%s' '%s%s"):format(program.moonrank, bench_folder, command)) end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read("a")
end

-- Calls `body` with the path of a temporary file, which has this file name ending and is removed afterwards.
local function with_file(ending, body)
  local path = os.tmpname()
  local ok, message = pcall(body, path .. ending)
  os.remove(path)
  os.remove(path .. ending)
  if not ok then error(message, 0) end
end

describe("docs/speed.md", function()
  it("has the tables that page.lua makes", function()
    with_file(".md", function(path)
      local page = read(docs .. "speed.md")
      local stale = page:gsub("(<!%-%- begin %w+ %-%->\n).-(<!%-%- end)", "%1%2")
      test.check(stale ~= page, "the page has tables")
      core.write_file(path, stale)
      local well, text = run(("page.lua' --page '%s' --folder '%sspeed'"):format(path, docs))
      test.check(well, text)
      test.check(read(path) == page, "docs/speed.md is not what tests/bench/page.lua makes")
    end)
  end)
  it("has the table that ratios.lua prints, without ratios above 1,000", function()
    local well, text = run(("ratios.lua' '%sspeed/cpu.csv'"):format(docs))
    test.check(well and read(docs .. "speed.md"):find(text:match "\n(| work.-)\n*$", 1, true), text)
    for row in text:gmatch "[^\n]+" do
      local largest = tonumber(row:match "([%d.]+) |$")
      test.check(not largest or largest <= 1000, row)
    end
  end)
  it("names a page without the lines of a table", function()
    with_file(".md", function(path)
      core.write_file(path, "# Speed\n")
      local well, text = run(("page.lua' --page '%s' --folder '%sspeed'"):format(path, docs))
      test.check(not well and text:find(path, 1, true), text)
    end)
  end)
end)

describe("docs/epoch.svg", function()
  it("has the times of cpu.csv", function()
    if not gnuplot_is_here then return test.skip "gnuplot is not installed" end
    with_file(".svg", function(path)
      local well, text = run(("chart.lua' --from '%sspeed/cpu.csv' --out '%s'"):format(docs, path))
      test.check(well, text)
      local function words(svg)
        local found = {}
        for each in svg:gmatch "<text[^>]*>(.-)</text>" do found[#found + 1] = each end
        return found
      end
      test.equal(words(read(docs .. "epoch.svg")), words(read(path)))
    end)
  end)
end)
