-- Tests that docs/protocols.md, the list of protocol decisions, names tests and files that exist.
local files = require "tests.support.files"
local test = require "moonrank.test"
local core = require "moonrank.core"
local it, check = test.it, test.check

-- Returns the names of tests and of their groups, by file.
local function tests_by_file()
  local found = {}
  for path in files.output "find tests/scripts tests/stdlib/moonrank -name '*_spec.lua'":gmatch "[^\n]+" do
    local text, names, groups = files.read(path), {}, {}
    for name in text:gmatch '[%s.]it%(%s*"(.-)"' do names[#names + 1] = name end
    for name in text:gmatch 'describe%(%s*"(.-)"' do groups[#groups + 1] = name end
    found[path] = { names = names, groups = groups }
  end
  return found
end

-- Returns true if a test of a file has a name that begins with `words`, perhaps after the name of its group. An
-- ellipsis in `words` stands for any text.
local function names_one(of_file, words)
  local pattern = "^" .. words:gsub("%p", "%%%0"):gsub("%s*%%%.%%%.%%%.%s*", ".*")
  for _, name in ipairs(of_file.names) do
    if name:find(pattern) then return true end
  end
  for _, group in ipairs(of_file.groups) do
    local rest = words:sub(1, #group) == group and words:sub(#group + 1):gsub("^ ", "")
    if rest and rest ~= words and names_one({ names = of_file.names, groups = {} }, rest) then return true end
  end
  return false
end

-- Returns the rows of the page's tables: line number, cells, and the heading above the table.
local function rows()
  local found, line, heading = {}, 0, nil
  for text in files.read "docs/protocols.md":gmatch "([^\n]*)\n" do
    line, heading = line + 1, text:match "^## (.*)" or heading
    local cells = {}
    for cell in text:gsub("^| ", ""):gmatch "(.-) |" do cells[#cells + 1] = cell end
    if text:find "^| " and cells[1] ~= "decision" then
      found[#found + 1] = { line = line, cells = cells, heading = heading }
    end
  end
  return found
end

it("docs/protocols.md names tests by the first words of their names, and the spec where it says one", function()
  local by_file, count = tests_by_file(), 0
  local function known(spec, words)
    for path, of_file in pairs(by_file) do
      local is_asked = not spec or path:sub(-#spec - 5) == "/" .. spec .. ".lua"
      if is_asked and (names_one(of_file, words) or names_one(of_file, (words:gsub("^%l+: ", "")))) then return true end
    end
    return false
  end
  for _, row in ipairs(rows()) do
    for item in (row.cells[4] .. ";"):gmatch "%s*(.-);" do
      local spec = item:match "%(`([%w_/]+_spec)`%)$"
      local words = item:gsub("%s*%(`[%w_/]+`%)$", "")
      check(known(spec, words), ("line %d: no test begins with '%s'"):format(row.line, item))
      count = count + 1
    end
  end
  check(count > 250, ("%d tests"):format(count))
end)

it("docs/protocols.md names files that exist", function()
  for _, row in ipairs(rows()) do
    local folder = row.heading:match "scripts/([%w_]+)/"
    for file in row.cells[3]:gmatch "`([%w_/]+%.lua)`" do
      local there = folder and core.is_file(("scripts/%s/%s"):format(folder, file))
      for _, other in ipairs{ "thesis", "sigir21", "grid" } do
        there = there or core.is_file(("scripts/%s/%s"):format(other, file))
      end
      check(there, ("line %d: %s"):format(row.line, file))
    end
  end
end)

-- Fields of a protocol.lua that results do not depend on: texts, command lines, lists of options, and made-up data.
local no_decisions = { title = true, titles = true, caption = true, recipe_names = true, set_names = true,
  made_up = true, smoke_rates = true, names = true, named = true, by_name = true, with = true, options = true,
  args = true, trainings = true }

-- Decisions that are not made in a protocol.lua, but in another file of the scripts.
local more = { sigir21 = { "recipes" }, cmu = { "beside", "faces_protocol" }, objectives = { "beside" } }

it("docs/protocols.md has all functions and values of each protocol.lua, under the heading of its document", function()
  local count = 0
  for document, heading in pairs{ thesis = "The thesis", sigir21 = "SIGIR", objectives = "Tang", lecture = "Seguí",
    cmu = "Li & Wu", ir_benchmark = "Yang", grid = "The grid" } do
    local named = ""
    for _, row in ipairs(rows()) do
      if row.heading:find(heading, 1, true) == 1 then named = named .. row.cells[3] end
    end
    local text = ""
    for _, name in ipairs{ "protocol", table.unpack(more[document] or {}) } do
      text = text .. files.read(("scripts/%s/%s.lua"):format(document, name))
    end
    for line in text:gmatch "[^\n]+" do
      local field = line:match "^function M%.([%w_.]+)" or line:match "^M%.([%w_.]+)"
      local last = field and field:match "[%w_]+$"
      check(not field or no_decisions[last] or named:find("%f[%w_]" .. last .. "%f[^%w_]"),
        ("%s has no row under '%s'"):format(field, heading))
      count = count + (field and 1 or 0)
    end
  end
  check(count > 90, ("%d fields"):format(count))
end)
