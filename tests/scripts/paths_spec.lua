-- Every option of every script that takes a path, as --help tells, given a pipe, devices, a folder, a file and links that lead nowhere: an error that
-- names the path, at once, before anything is read or made.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank then
  it("paths of scripts", function() test.skip "MOONRANK does not name the program" end)
  return
end

local here = sweeps.capture("pwd"):match "[^\n]+"

-- What options of this text take, by what --help says of them: what there is wrong for each.
local unreadable <const> = { "fifo", "to_fifo", "lost", "self", "null", "full", "file/inside" }
local sorts <const> = {
  { says = { "^where runs are kept", "^where results are kept", "^file of the " }, writes = "file", wrong = { "folder" } },
  { says = { "^folder of the ", "^folder for " }, writes = "folder", wrong = { "file" } },
  { says = { "^folder ", "^of %-%-sets folder", ": a name or a folder" }, wrong = { "file" } },
  { says = { "^CSV of ", "^table of ", "^a TREC run" }, wrong = { "folder" } },
}

local function sort_of(text)
  for _, sort in ipairs(sorts) do
    for _, words in ipairs(sort.says) do
      if text:find(words) then return sort end
    end
  end
end

-- Each under a name of its own, with an ending. Devices are made here, so that nothing can happen to those of the machine.
local make = [[cd %s && mkdir -p empty && mkdir folder%s && mkfifo fifo%s && ln -s fifo%s to_fifo%s && ln -s none%s lost%s &&
  ln -s self%s self%s && printf x >file%s && (mknod null%s c 1 3 && mknod full%s c 1 7) 2>made%s; true]]

local function listing(folder)
  return sweeps.capture(("cd %s && find . -path ./try.lua -o -printf '%%y %%p %%s %%l\n' | sort"):format(folder))
end

-- Runs scripts with options in one process: a line of each, "script option kind: what is said". They end where they read their options.
local runner = [[
local core = require "moonrank.core"
io.stdout:setvbuf "line"
for _, each in ipairs(asked) do
  rawset(_G, "arg", { [0] = each.script, table.unpack(each.words) })
  local _, said = xpcall(assert(loadfile(each.script)), core.error_text)
  io.stdout:write(("\n== %s %s %s: %s"):format(each.name, each.option, each.kind, tostring(said)))
end
]]

-- The options of a script that take paths, and whether --smoke goes with each.
local function options_of(path, help)
  local found, smoke = {}, help:match "\n  %-%-smoke +([^\n]*)" or ""
  for option, text in help:gmatch "\n  %-%-([%w_]+) STRING +([^\n]*)" do
    local sort = not text:find "one of" and sort_of(text)
    if sort then
      local ignored = smoke:find("not beside --" .. option, 1, true) or smoke:find("%f[%w_]" .. option .. " is ")
      found[#found + 1] = { script = path, option = option, sort = sort, ending = text:match "^file of the report" and ".html"
        or text:match "^file of the figure" and ".svg" or "", smoke = not ignored and "--smoke" or nil, text = text }
    else
      check(text:find "one of" or text:find "^which" or option == "device" or option == "recipe" or option == "bound",
        ("%s --%s: does it take a path? %s"):format(path, option, text))
    end
  end
  return found
end

local function all_options()
  local found, scripts = {}, 0
  for path in sweeps.capture("find scripts -name '*.lua' | sort"):gmatch "[^\n]+" do
    local help = sweeps.capture(("%s %s --help 2>&1"):format(sweeps.moonrank, path))
    if help:find "^usage:" then
      scripts = scripts + 1
      table.move(options_of(path, help), 1, 1000, #found + 1, found)
    end
  end
  check(scripts > 60 and #found > 150, ("%d options of %d scripts"):format(#found, scripts))
  return found
end

local function requests(folder, options)
  local lines, count = {}, 0
  for _, each in ipairs(options) do
    local kinds = table.move(each.sort.wrong, 1, #each.sort.wrong, #unreadable + 1, { table.unpack(unreadable) })
    for _, kind in ipairs(kinds) do
      local path = folder .. "/" .. (kind == "file/inside" and "file" .. each.ending .. "/inside" or kind) .. each.ending
      local more = each.option == "folder" and ', "--sets", "folder"' or ""
      if kind ~= "null" and kind ~= "full" or sweeps.capture(("test -c %s && echo yes"):format(path)) ~= "" then
        count = count + 1
        lines[count] = ("{ script = %q, name = %q, option = %q, kind = %q, words = { %q, %q%s%s } },"):format(here .. "/" .. each.script,
          each.script, each.option, kind, "--" .. each.option, path, each.smoke and ', "--smoke"' or "", more)
      end
    end
  end
  return "local asked = {\n" .. table.concat(lines, "\n") .. "\n}\n" .. runner, count
end

it("what leads to something else is refused by every script, before anything is read or made", function()
  sweeps.in_folder(function(folder)
    for _, ending in ipairs{ "", ".svg", ".html" } do
      check(os.execute((make:gsub("%%s", ending):gsub("^cd " .. ending, "cd " .. folder))), "the folder was not made")
    end
    local text, count = requests(folder, all_options())
    sweeps.write(folder .. "/try.lua", text)
    local before = listing(folder)
    local said = sweeps.capture(("cd %s/empty && timeout -k 5 200 %s ../try.lua 2>&1"):format(folder, sweeps.moonrank))
    local answers = 0
    for script, option, kind, about in (said .. "\n== "):gmatch "== (%S+) (%S+) ([%w_/]+): (.-)%f[\n\0]\n?%f[=\0]" do
      local where = ("%s --%s, %s: %s"):format(script, option, kind, about)
      check(about:find(folder .. "/" .. kind:match "^%w+", 1, true), where)
      for _, wrong in ipairs{ "attempt to", "std::", "memory", "basic_" } do check(not about:find(wrong, 1, true), where) end
      answers = answers + 1
    end
    equal(answers, count, said:sub(-1000))
    equal(listing(folder), before)
  end)
end)
