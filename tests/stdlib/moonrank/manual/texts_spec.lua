-- Tests the manual: recipes and chapters print their documented output, and scripts that are named exist.
local test = require "moonrank.test"
local core = require "moonrank.core"
local help = require "moonrank.help"
local texts = require "moonrank.manual.texts"
local program = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, check = test.it, test.equal, test.check

-- Splits a text into its lines without blanks at their ends and without empty lines, and its decimal numbers, because
-- other CPU instructions may change the last digits of numbers.
local function parts_of(text)
  local numbers = {}
  local rest = ("\n" .. text .. "\n"):gsub("%s*\n", "\n"):gsub("%-?%d+%.%d+", function(n)
    numbers[#numbers + 1] = n
    return "#"
  end)
  return rest, numbers
end

-- Checks that two texts are the same, except for decimal numbers within two units of their last digit.
local function same(found, expected, where)
  local a, found_numbers = parts_of(found)
  local b, expected_numbers = parts_of(expected)
  equal(a, b, where)
  for i, n in ipairs(expected_numbers) do
    local digits = #n:match "%.(%d+)$"
    local difference = math.abs(tonumber(n) - tonumber(found_numbers[i]))
    check(difference <= 2.0001 * 10 ^ -digits, ("%s: %s, expected %s"):format(where, found_numbers[i], n))
  end
end

local function runs(name, script, expected)
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  if script:find(":save \"%w+%.svg\"") and not program.has_gnuplot() then return test.skip "no gnuplot" end
  local folder = sweeps.new_folder()
  sweeps.write(folder .. "/recipe.lua", script)
  local status, out, err = sweeps.run(folder, "recipe.lua", "", "MOONRANK_DEVICE=cpu")
  equal(status, 0, err)
  -- nothing is printed to standard error except the progress of sweeps
  equal((err:gsub("[^\n]+  %d+/%d+ trials[^\n]*\n", "")), "")
  same(out, expected, name)
end

local function on_disk(folder, ending)
  local names = {}
  for _, name in ipairs(core.list_folder("stdlib/manual/" .. folder)) do
    names[#names + 1] = name:match("^(.*)%." .. ending .. "$")
  end
  table.sort(names)
  return names
end

local function sorted(names)
  local copy = table.move(names, 1, #names, 1, {})
  table.sort(copy)
  return copy
end

it("the manual lists every text in its folders", function()
  equal(on_disk("cookbook", "lua"), sorted(texts.recipes))
  equal(on_disk("guide", "md"), sorted(texts.guide))
  equal(on_disk("papers", "md"), sorted(texts.papers))
end)

it("the first page of guide and papers lists the chapters with links, in order", function()
  for _, folder in ipairs{ "guide", "papers" } do
    local expected = {}
    for i, name in ipairs(texts[folder]) do
      local title = texts.page(folder .. "/" .. name).title
      expected[i] = ("- [%s](%s/%s.md)\n"):format(title, folder, name)
    end
    equal(texts.read(folder .. ".md"):match "\n\n(%- .*)$", table.concat(expected))
  end
end)

it("links to sources become links of the built manual, and other links stay", function()
  local linked = texts.linked "guide/losses_and_bounds"
  for _, link in ipairs{ "guide_glossary.html#bound", "cookbook.html#own_loss", "reference_bounds.html" } do
    check(linked:find("](" .. link .. ")", 1, true), link)
  end
  check(texts.linked "papers/westerborg_2022":find("](reference_bounds.html#bound.minmax)", 1, true), "an anchor")
  check(texts.linked "index":find("](guide_install.html)", 1, true), "a page in a folder")
  check(texts.linked "guide/sweeps":find("](formats.html)", 1, true), "a page of another folder")
  check(texts.linked "formats":find("](#safetensors)", 1, true), "a link within the page")
end)

it("the manual has at least twenty recipes, each with a question and a short script", function()
  check(#texts.recipes >= 20, #texts.recipes .. " recipes")
  for _, name in ipairs(texts.recipes) do
    local recipe = texts.recipe(name)
    check(recipe.title:match "^%u.*%?$", name .. ": " .. recipe.title)
    check(#recipe.text > 40 and #recipe.output > 0, name)
    local _, lines = recipe.code:gsub("\n", "")
    check(lines + 1 >= 5 and lines + 1 <= 25, ("%s: %d lines"):format(name, lines + 1))
  end
  equal(texts.recipe "nosuch", nil)
end)

for _, name in ipairs(texts.recipes) do
  local recipe = texts.recipe(name)
  it("recipe " .. name .. " prints its documented output", function() runs(name, recipe.source, recipe.output) end)
end

-- Returns the code that a page shows, as one script, and the output that it shows. Blocks of Lua and of shell commands
-- run in the order of the page.
-- In a table whose last column is headed "value", the code in the column before it has this value.
local head = [=[
local function commands(text)
  io.stdout:flush()
  assert(os.execute(text))
end
local function show(...)
  local values = table.pack(...)
  for i = 1, values.n do
    local text = require("moonrank.prompt.repl").text(values[i]):gsub('^"(.*)"$', "%1"):gsub("%s*\n%s*", " ")
    values[i] = text:gsub("%s*mr%.Tensor .*", "")
  end
  print(table.concat(values, ", "))
end
]=]

local function shown_by(text)
  local code, output, language, has_values = { head }, {}, nil, false
  for line in text:gmatch "[^\n]*" do
    local fence, cell, value = line:match "^```(%w*)", line:match "^|.*| `(.-)` *| `(.-)` *|$"
    has_values = line:match "^|" and (has_values or line:match "| value *|$" ~= nil)
    if fence then
      code[#code + 1] = language == "sh" and "]==]" or fence == "sh" and "commands[==[" or ""
      language = not language and fence or nil
    elseif language == "sh" then
      code[#code + 1] = line:gsub("^moonrank ", program.moonrank .. " ")
    elseif language == "lua" then
      code[#code + 1] = line
    elseif language == "output" then
      output[#output + 1] = line
    elseif has_values and value then
      code[#code + 1], output[#output + 1] = ("show(%s)"):format(cell), value
    end
  end
  return table.concat(code, "\n") .. "\n", table.concat(output, "\n")
end

for _, name in ipairs(texts.guide) do
  it("chapter " .. name .. " prints its documented output", function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    runs(name, shown_by(texts.read("guide/" .. name .. ".md")))
  end)
end

it("a page in the terminal has labels instead of links and captions instead of figures, and keeps its words", function()
  for _, name in ipairs(texts.pages()) do
    local text = texts.page(name).text
    check(not text:find "%]%([%w_./#]*%)" and not text:find("```figure", 1, true), name)
  end
  local page, drawn = texts.page("guide/glossary").text, texts.page("guide/losses_and_bounds").text
  check(page:gsub("%s+", " "):find("The chapter Losses and bounds uses these terms.", 1, true), page)
  for caption in texts.read "guide/losses_and_bounds.md":gmatch "```figure ([^\n]*)" do
    check(drawn:find(caption, 1, true), caption)
  end
end)

it("every term of the glossary is found, alone or in a heading of several", function()
  local count = 0
  for heading in texts.read "guide/glossary.md":gmatch "\n### ([^\n]+)" do
    check(texts.term(heading:match "^[^,]*":gsub(" and .*", "")):find(heading, 1, true), heading)
    count = count + 1
  end
  check(count > 50, count)
  equal(texts.term "nDCG", texts.term "dcg")
  equal(texts.term "nosuch", nil)
  for name, full in pairs{ nsr = "negative sampling ratio", rbp = "rank biased precision", ap = "Average precision",
    auc = "area under the ROC curve", dcg = "discounted cumulative gain" } do
    check(texts.term(full) == texts.term(name) and texts.term(name), full)
  end
  check(help.about "negative sampling ratio":find("sampled items", 1, true), "a term by its full name")
  check(help.about "deferred update":find("An optimizer step", 1, true), "deferred update")
  check(help.about "deferred update":find("mr.optim.adam", 1, true), "what uses the term")
  check(help.about "gain":find("worth of a grade", 1, true), "a term that is also the name of a field")
  check(help.about "glossary":find("# Glossary", 1, true), "a page by its short name")
end)

it("mr.help finds recipes by name and by words", function()
  check(help.text "top_ten":find("Which items should a user see?", 1, true), "by name")
  check(help.text "tied scores worth":find('recipe "ties"', 1, true), "by words")
end)

-- Returns the set of scripts that a text names in its tables.
local function scripts_in(text)
  local found = {}
  for script in text:gmatch "scripts/[%w_/]+%.lua" do found[script] = true end
  return found
end

it("manual pages name scripts that exist, and every figure and table script of the thesis", function()
  if not core.is_file "scripts/README.md" then return test.skip "no scripts beside the standard library" end
  for _, name in ipairs{ "papers/westerborg_2022.md", "papers/li_2021.md", "papers/tang_2023.md",
    "papers/segui_2022.md", "papers/li_wu.md", "papers/yang_2025.md", "index.md", "guide/sweeps.md",
    "guide/losses_and_bounds.md" } do
    for script in pairs(scripts_in(texts.read(name))) do check(core.is_file(script), name .. ": " .. script) end
  end
  local named = scripts_in(texts.read "papers/westerborg_2022.md")
  for line in io.lines "scripts/README.md" do
    local script = line:match "^| `(thesis/[%w_]+%.lua)`"
    if script then check(named["scripts/" .. script], script) end
  end
  for _, name in ipairs(core.list_folder "scripts/thesis") do
    if name:match "^figure_%d" or name:match "^table_" then check(named["scripts/thesis/" .. name], name) end
  end
end)
