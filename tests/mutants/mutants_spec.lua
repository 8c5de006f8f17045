-- The lists of changes, which mutants.lua goes by: each can be put in, and what is to notice it is there.
local core = require "moonrank.core"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal = test.it, test.check, test.equal

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function each_change(visit)
  for _, list in ipairs{ "lua", "cpp", "repairs" } do
    for _, each in ipairs(dofile("tests/mutants/" .. list .. ".lua")) do visit(each) end
  end
end

it("what a change replaces stands in its file once", function()
  each_change(function(each)
    local text = read(each.file)
    for i = 1, #each.change, 2 do
      local old, new = each.change[i], each.change[i + 1]
      local first, last = text:find(old, 1, true)
      check(first, ("%s does not stand in %s"):format(old, each.file))
      if not first then break end
      check(not text:find(old, last + 1, true), ("%s stands in %s more than once"):format(old, each.file))
      text = text:sub(1, first - 1) .. new .. text:sub(last + 1)
    end
  end)
end)

-- The tests of C++, as one text.
local function cases()
  local texts = {}
  for path in sweeps.capture("find tests -name '*_test.cpp'"):gmatch "[^\n]+" do texts[#texts + 1] = read(path) end
  return (table.concat(texts, "\n"):gsub('"%s*\n%s*"', ""))
end

it("what is to notice a change is there", function()
  local tests = cases()
  each_change(function(each)
    local names = each.by
    if type(names) == "string" then
      names = {}
      for name in each.by:gmatch "%S+" do names[#names + 1] = name end
    end
    for _, name in ipairs(names) do
      local case = name:match "^case (.*)"
      if case then
        check(tests:find('CASE("' .. case .. '"', 1, true), name)
      elseif not name:find "^fuzz " and not name:find "^calls " then
        check(core.is_file(("tests/stdlib/moonrank/%s_spec.lua"):format(name)) or core.is_file(("tests/%s_spec.lua"):format(name)), name)
      end
    end
  end)
end)

it("a text that no change has is an error, before anything is copied", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    local said = sweeps.capture(("%s tests/mutants/mutants.lua --only nowhere --copy %s/copy 2>&1"):format(sweeps.moonrank, folder))
    equal(said:match "^[^\n]*", "moonrank: --only: no change of --list lua has 'nowhere'")
    equal(core.file_exists(folder .. "/copy"), false)
  end)
end)

local here = sweeps.capture("pwd"):match "[^\n]+"

it("a folder that is no copy is left as it is", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    os.execute(("mkdir -p %s/docs/own && cd %s && echo a >README.md && echo b >docs/own/notes"):format(folder, folder))
    local list = ("cd %s && find . -type f -exec sha256sum {} + | sort"):format(folder)
    local before = sweeps.capture(list)
    for _, name in ipairs{ folder, folder .. "/", ".", "./docs", "docs/../docs" } do
      local said = sweeps.capture(("cd %s && %s %s/tests/mutants/mutants.lua --copy %s --only none_of_them 2>&1"):format(folder,
        sweeps.moonrank, here, name))
      check(said:find("--copy: " .. name .. " is not empty, and no copy that this made", 1, true), said)
      equal(sweeps.capture(list), before)
    end
  end)
end)
