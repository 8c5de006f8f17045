-- Every option of a script that declares a path is given a pipe, devices, a folder, a file and links that lead nowhere.
-- The script must refuse each at once with an error that names the path, before it reads or makes anything.
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank then
  it("every script refuses paths of a wrong kind", function() test.skip "MOONRANK does not name the program" end)
  return
end

local here = sweeps.capture("pwd"):match "[^\n]+"

-- Paths that no option accepts, and further invalid ones for each kind of path (field `path` of an option declared with
-- mr.args).
local unreadable <const> = { "fifo", "to_fifo", "lost", "self", "null", "full", "file/inside" }
local wrong <const> = { file = "folder", folder = "file", ["data folder"] = "file", ["new file"] = "folder",
  ["output file"] = "folder", ["new folder"] = "file" }

-- Options without a declared path whose value may also be a path.
local undeclared <const> = { images = "folder", data = "folder" }

-- Shell commands that make one path of each kind in a folder. Names have a file name ending. Devices are created here,
-- so that a test cannot harm those of the machine.
local make =
  [[cd %s && mkdir -p empty && mkdir folder%s && mkfifo fifo%s && ln -s fifo%s to_fifo%s && ln -s none%s lost%s &&
  ln -s self%s self%s && printf x >file%s && (mknod null%s c 1 3 && mknod full%s c 1 7) 2>made%s; true]]

local function listing(folder)
  return sweeps.capture(("cd %s && find . -path ./try.lua -o -printf '%%y %%p %%s %%l\n' | sort"):format(folder))
end

-- A program that runs scripts with options and prints "== script option kind: error" for each. A script is stopped
-- where it reads its options.
local runner = [[
local core = require "moonrank.core"
io.stdout:setvbuf "line"
for _, each in ipairs(asked) do
  rawset(_G, "arg", { [0] = each.script, table.unpack(each.words) })
  local _, said = xpcall(assert(loadfile(each.script)), core.error_text)
  io.stdout:write(("\n== %s %s %s: %s"):format(each.name, each.option, each.kind, tostring(said)))
end
]]

-- A program that prints each script that declares options with mr.args, and each option that is a path: script, name,
-- kind of path, file name ending, and --smoke if both may be given. A script is stopped where it declares its options.
local lister = [[
local mr = require "moonrank"
local declared
mr.args = function(options)
  declared = options
  error "declared"
end
local function is_table(d) return type(d) == "table" and #d == 0 end
for _, script in ipairs(scripts) do
  declared = nil
  rawset(_G, "arg", { [0] = script })
  pcall(assert(loadfile(script)))
  if declared then print("script " .. script) end
  for name, d in pairs(declared or {}) do
    local path = is_table(d) and (d.path or not d.choices and undeclared[name])
    if path then
      local smoke, beside = declared.smoke, is_table(declared.smoke)
      for _, other in ipairs(beside and smoke.ignores or {}) do beside = beside and other ~= name end
      beside = beside and (smoke.sets or {})[name] == nil
      print(("option %s\t%s\t%s\t%s\t%s"):format(script, name, path, (d.endings or {})[1] or "",
        beside and "--smoke" or ""))
    end
  end
end
]]

local function all_options()
  local names, text = {}, {}
  for path in sweeps.capture("find scripts -name '*.lua' | sort"):gmatch "[^\n]+" do
    names[#names + 1] = ("%q"):format(path)
  end
  for name, path in pairs(undeclared) do text[#text + 1] = ("%s = %q"):format(name, path) end
  local list = files.written(("local scripts, undeclared = { %s }, { %s }\n%s"):format(
    table.concat(names, ", "), table.concat(text, ", "), lister))
  local said, found = sweeps.capture(("%s %s 2>&1"):format(sweeps.moonrank, list)), {}
  for script, option, path, ending, smoke in said:gmatch "option ([^\t\n]+)\t([^\t]+)\t([^\t]+)\t([^\t]*)\t([^\n]*)" do
    check(wrong[path], ("%s --%s: %s"):format(script, option, path))
    found[#found + 1] = { script = script, option = option, wrong = wrong[path], ending = ending, smoke = smoke ~= "" }
  end
  local _, scripts = said:gsub("script ", "")
  check(scripts > 60 and #found > 150, ("%d options of %d scripts\n%s"):format(#found, scripts, said:sub(-1000)))
  return found
end

local function requests(folder, options)
  local lines, count = {}, 0
  for _, each in ipairs(options) do
    for _, kind in ipairs{ each.wrong, table.unpack(unreadable) } do
      local path = folder .. "/"
        .. (kind == "file/inside" and "file" .. each.ending .. "/inside" or kind) .. each.ending
      local more = each.option == "folder" and ', "--sets", "folder"' or ""
      if kind ~= "null" and kind ~= "full" or sweeps.capture(("test -c %s && echo yes"):format(path)) ~= "" then
        count = count + 1
        lines[count] = ("{ script = %q, name = %q, option = %q, kind = %q, words = { %q, %q%s%s } },"):format(
          here .. "/" .. each.script, each.script, each.option, kind, "--" .. each.option, path,
          each.smoke and ', "--smoke"' or "", more)
      end
    end
  end
  return "local asked = {\n" .. table.concat(lines, "\n") .. "\n}\n" .. runner, count
end

it("every script refuses paths of a wrong kind, before it reads or makes anything", function()
  local folder = sweeps.new_folder()
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
    for _, words in ipairs{ "attempt to", "std::", "memory", "basic_" } do
      check(not about:find(words, 1, true), where)
    end
    answers = answers + 1
  end
  equal(answers, count, said:sub(-1000))
  equal(listing(folder), before)
end)
