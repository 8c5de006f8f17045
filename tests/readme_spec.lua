-- Tests the code in README.md: it runs when pasted block after block, as a script and at the prompt. It prints what
-- README.md shows: all of it with MovieLens, and with made-up ratings the output that needs no data. README.md stays
-- short.
local files = require "tests.support.files"
local test = require "moonrank.test"
local core = require "moonrank.core"
local mr = require "moonrank"
local program, sweeps = dofile "tests/support/program.lua", dofile "tests/support/sweeps.lua"
local claims = dofile "docs/report/claims.lua"
local it, check, equal = test.it, test.check, test.equal

-- Returns the text of README.md and its Lua blocks, each with the output block below it.
local function readme()
  local text, blocks = files.read "README.md", {}
  for language, block in text:gmatch "```(%w+)\n(.-)```" do
    if language == "lua" then blocks[#blocks + 1] = { code = block } end
    if language == "output" then blocks[#blocks].output = block end
  end
  return text, blocks
end

local text, blocks = readme()
local separator = "-- next block --\n"
local made_up = [[mr.data.movielens = function()
  return mr.data.synthetic{kind = "ratings", users = 60, items = 400, mean_activity = 90, seed = 1}
end
]]

-- Runs all Lua blocks of README.md in a temporary folder by a command in which FILE stands for the script. If
-- `is_made_up`, made-up ratings replace MovieLens. Returns what each block printed, or nil if the test is skipped.
local function run(command, is_made_up)
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  local parts, printed = {}, {}
  local data = is_made_up and "" or '$(realpath "${MOONRANK_DATA:-../shared/data}")'
  for i, block in ipairs(blocks) do parts[i] = block.code .. ("io.write(%q)\n"):format(separator) end
  sweeps.in_folder(function(folder)
    sweeps.write(folder .. "/blocks.lua", table.concat(parts))
    sweeps.write(folder .. "/made_up.lua", is_made_up and made_up or "")
    local ok, said = program.run(([[data=%s; cd %s &&
      MOONRANK_DEVICE=cpu MOONRANK_DATA=$data TERM=dumb %s -e 'dofile "made_up.lua"' %s 2>errors
      status=$?; grep '^moonrank: ' errors; exit $status]]):format(
      data, folder, program.moonrank, (command:gsub("FILE", "blocks.lua"))))
    check(ok and not said:find("moonrank: ", 1, true), said)
    check(core.is_file(folder .. "/bound.svg"), "the plot is saved")
    for each in said:gmatch("(.-)" .. separator:gsub("%p", "%%%0")) do printed[#printed + 1] = each end
  end)
  equal(#printed, #blocks)
  return printed
end

-- Checks that the lines of `output` are among those of `printed`, in this order.
local function prints(printed, output)
  local from = 1
  for line in output:gmatch "[^\n]+" do
    local first, last = printed:find(line .. "\n", from, true)
    check(first, ("README.md shows %q, printed was:\n%s"):format(line, printed))
    if not first then return end
    from = last + 1
  end
end

it("README.md's blocks run as a script and print what it shows, with MovieLens", function()
  if not program.has_data "ml-latest-small" then return test.skip "no MovieLens in MOONRANK_DATA or ../shared/data" end
  for i, printed in ipairs(run("FILE", false) or {}) do
    if blocks[i].output then equal(printed, blocks[i].output) end
  end
end)

it("README.md's blocks run as a script and at the prompt, with made-up ratings", function()
  for _, command in ipairs{ "FILE", "-i < FILE" } do
    local printed = run(command, true)
    if not printed then return end
    for i, block in ipairs(blocks) do
      if block.code:find("ratings", 1, true) then break end
      if block.output then prints(printed[i], block.output) end
    end
  end
end)

it("README.md has at most 120 lines of at most 100 columns", function()
  local count = 0
  for line in text:gmatch "([^\n]*)\n" do
    count = count + 1
    check(utf8.len(line) <= 100, line)
  end
  check(count <= 120, count)
end)

it("README.md says of bounding what the results files have", function()
  local counts = {}
  for _, claim in ipairs(claims.read "docs/results") do
    local all, better, worse = (claim.said or ""):match(
      "(%d+) bounded losses .- (%w+) are significantly better than .- (%w+) are significantly worse")
    if all then counts[#counts + 1] = { all, better, worse } end
  end
  equal(#counts, 2)
  local movielens, mq2008 = counts[1], counts[2]
  local shown = text:gsub("%s+", " ")
  check(shown:find(("On MovieLens %s of %s bounded losses"):format(movielens[2], movielens[1]), 1, true), shown)
  check(shown:find(("and %s are worse"):format(movielens[3]), 1, true), shown)
  equal({ mq2008[2], mq2008[3] }, { "none", "none" })
  check(shown:find(("on MQ2008 none of %s"):format(mq2008[1]), 1, true), shown)
end)

it("README.md and docs/comparison.md have the numbers of losses and bounds", function()
  local names, pairwise = mr.losses.names(), 0
  for _, name in ipairs(names) do pairwise = pairwise + (mr.losses[name]().pointwise and 0 or 1) end
  check(text:find(("**%d losses**"):format(#names), 1, true), #names)
  check(text:find(("| Losses of pairs, lists | %d |"):format(pairwise), 1, true), pairwise)
  local words = ("`mr.losses.names()` has %d names; %d are of single rows"):format(#names, #names - pairwise)
  check(files.read "docs/comparison.md":find(words, 1, true), words)
  check(text:find(("| Bounds by shape | %d, yours |"):format(#mr.bounds.names() - 1), 1, true), #mr.bounds.names())
end)

-- Returns the rows of the first table below a heading, as lists of cells.
local function rows_after(page, heading)
  local rows, _, last = {}, page:find("\n## " .. heading .. "\n", 1, true)
  check(last, "no heading " .. heading)
  for line in page:sub(last + 1):gmatch "([^\n]*)\n?" do
    if line:find "^|" then
      local cells = {}
      for cell in line:gmatch "|%s*([^|]-)%s*%f[|]" do cells[#cells + 1] = cell end
      rows[#rows + 1] = cells
    elseif #rows > 0 then
      return rows
    end
  end
  return rows
end

it("README.md's comparison has the cells of docs/comparison.md, where each was read", function()
  local evidence = sweeps.read "docs/comparison.md"
  local compared = rows_after(text, "How it compares")
  check(#compared > 8, #compared)
  for i = 3, #compared do
    local row = compared[i]
    local found = rows_after(evidence, row[1])
    equal(#found - 2, #row - 1, row[1])
    for j = 2, #row do equal({ found[j + 1][1], found[j + 1][2] }, { compared[1][j], row[j] }) end
  end
end)

it("README.md's rows of speed are rows of docs/speed.md", function()
  local known, work = {}, nil  -- `work` of a row without its first cell is that of the row before
  for line in sweeps.read "docs/speed.md":gmatch "[^\n]+" do
    local first, peer, ratio = line:match "^| *([^|]-) *| ([^|]-) *| [^|]* | ([^|]-) *|"
    work = first and first ~= "" and first or work
    if ratio then known[work .. "/" .. peer] = ratio end
  end
  local rows = rows_after(text, "Speed")
  equal(#rows - 2, 6)
  for i = 3, #rows do
    local told, against, ratio = table.unpack(rows[i])
    equal({ told, known[told .. "/" .. against] }, { told, ratio })
    check(tonumber(ratio:match "[%d.]+$") <= 1000, told)
  end
end)

it("README.md gives the commands for the experiment and the tests, and only commands that bootstrap has", function()
  local known, given = files.read "bootstrap", {}
  for command in text:gmatch "%./bootstrap (%l+)" do
    check(known:find("\n  " .. command .. ") ", 1, true), command)
    given[command] = true
  end
  check(given.run and given.test, "run and test")
end)
