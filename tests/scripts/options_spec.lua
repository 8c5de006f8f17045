-- Tests the --help of all scripts: what a script is about, and options that all share, such as a device, a short run
-- (--smoke) and a store. Also tests the notice on made-up data.
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local program = dofile "tests/support/program.lua"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank then
  it("every script has the options that all share", function() test.skip "MOONRANK does not name the program" end)
  return
end

local here = sweeps.capture("pwd"):match "[^\n]+"

---@class tests.Script
---@field path string
---@field help string
---@field options table<string, string>  by name, as it is typed, the line of --help

-- Returns every file under scripts that has options. Other files are modules of these.
local function scripts()
  local found = {}
  for path in sweeps.capture("find scripts -name '*.lua' | sort"):gmatch "[^\n]+" do
    local ok, help = program.run(("COLUMNS= %s %s --help"):format(sweeps.moonrank, path))
    if help:find "^usage:" then
      check(ok, path .. ": " .. help)
      local one = { path = path, help = help, options = {} }
      for line in help:gmatch "\n  (%-%-[^\n]+)" do
        local name = line:match "^%-%-([%w_-]+)"
        one.options[name:match "^no%-(.+)" or name] = line
      end
      found[#found + 1] = one
    else
      check(ok and help == "", path .. ": " .. help)
    end
  end
  return found
end

local all = scripts()

it("every script has --device and --smoke, and with a store --force, --retry, --mix-numerics, --workers", function()
  check(#all > 35, #all .. " scripts")
  for _, script in ipairs(all) do
    for _, name in ipairs{ "device", "smoke" } do
      check(script.options[name], ("%s has no --%s"):format(script.path, name))
    end
    for _, name in ipairs(script.options.store and { "force", "retry", "mix-numerics", "workers" } or {}) do
      check(script.options[name], ("%s has a store and no --%s"):format(script.path, name))
    end
  end
end)

it("every script shows options with hyphens, and at most one default of each", function()
  local defaults = 0
  for _, script in ipairs(all) do
    for name, line in pairs(script.options) do
      local _, count = line:gsub("%f[%a]default%f[%A]", "")
      check(count <= 1 and not name:find "_", ("%s: %s"):format(script.path, line))
      defaults = defaults + count
    end
  end
  check(defaults > 300, defaults .. " defaults")
end)

it("every script's help begins with at most four lines, which end with a full stop or a question mark", function()
  for _, script in ipairs(all) do
    local about, lines = script.help:match "^usage:[^\n]*\n\n(.-)\n\noptions:", 1
    check(about and about:find "[.?]$", script.path .. ": " .. tostring(about))
    for _ in about:gmatch "\n" do lines = lines + 1 end
    check(lines <= 4, ("%s: %d lines"):format(script.path, lines))
  end
end)

-- Returns the options that --smoke sets, each with a valid value, and the options that have no effect beside --smoke.
local function beside_smoke(script)
  local notes, found = script.options.smoke:match "%((.*)%)$" or "", {}
  local function put(name, value) found[name] = value or script.options[name]:match "default (%-?%d+)" or "x" end
  for note in notes:gmatch "[^;]+" do
    local name, value = note:match "^%s*([%w-]+) is (.+)$"
    if name then put(name, value) end
    for other in (note:match "not beside (.*)" or ""):gmatch "%-%-([%w-]+)" do put(other) end
  end
  return found
end

it("every script refuses options that --smoke sets or ignores, before it reads anything", function()
  local count = 0
  for _, script in ipairs(all) do
    for name, value in pairs(beside_smoke(script)) do
      local ok, text =
        program.run(("timeout 20 %s %s --smoke --%s %s"):format(sweeps.moonrank, script.path, name, value))
      local said = text:match("^moonrank: %-%-" .. name:gsub("%-", "%%-") .. ": (.*)") or ""
      check(not ok and said:find("--smoke", 1, true), ("%s --%s: %s"):format(script.path, name, text))
      count = count + 1
    end
  end
  check(count > 60, count .. " options")
end)

it("every script shows the range of each number, except of seeds, which may be any integer", function()
  local count = 0
  for _, script in ipairs(all) do
    for name, line in pairs(script.options) do
      if line:find "^%-%-[%w-]+ INTEGER" or line:find "^%-%-[%w-]+ NUMBER" then
        local in_words = (" " .. line):match "%((.*)%)$" or ""
        local has_range = false
        for note in in_words:gmatch "[^;(]+" do
          has_range = has_range or note:match "^%s*from " or note:match "^%s*above " or note:match "^%s*to "
            or note:match "^%s*below " or note:match "^%s*one of " or note:match "^%s*of "
        end
        check(has_range or name == "seed" or name == "seeds", ("%s: %s"):format(script.path, line))
        count = count + 1
      end
    end
  end
  check(count > 150, count .. " options")
end)

it("every script refuses impossible numbers, names and files, before it reads anything", function()
  local count = 0
  for _, script in ipairs(all) do
    for name, line in pairs(script.options) do
      local least, above = line:match "[(;] ?from (%-?%d+)", line:match "[(;] ?above (%-?%d+)"
      local bad = least and tostring(tonumber(least) - 1) or above or name == "out"
        and line:find("file of the figure", 1, true) and "picture.doc"
        or line:find("^%-%-[%w-]+ STRING,%.%.%.") and "" or nil
      if bad then
        local ok, text = program.run(("timeout 20 %s %s --%s=%s"):format(sweeps.moonrank, script.path, name, bad))
        check(not ok and text:find("^moonrank: %-%-" .. name:gsub("%-", "%%-") .. ": expected "),
          ("%s --%s=%s: %s"):format(script.path, name, bad, text))
        count = count + 1
      end
    end
  end
  check(count > 80, count .. " options")
end)

-- Returns true for scripts whose numbers need no data: closed forms and worked examples, also the tutorial's first
-- table.
local function is_exact(path)
  return (path:find "figure_[13]_" or path:find "thesis/tables_" or path:find "lecture/worked"
    or path:find "lecture/same") ~= nil
end

-- Returns the text above each table: the lines after the previous table, which ends with an empty line.
local function said_of_tables(text)
  local found, words, inside = {}, {}, false
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if line:find "^%-[%- ]*%-%-[%- ]*$" then
      found[#found + 1], words, inside = table.concat(words, "\n", 1, #words - 1), {}, true
    elseif line == "" then
      inside = false
    elseif not inside then
      words[#words + 1] = line
    end
  end
  return found
end

-- Scripts that only run other scripts are left out, because scripts of their folder are tested themselves.
local function runs_others(path) return path:find "/all%.lua$" or path:find "/document%.lua$" end

local of_a_bound = "1. sqrt_range, checked"
-- options that shorten a run: one of the script's three data sets
local shorter = { ["scripts/grid/learning_rates.lua"] = " --sets mslr" }

it("every script with --smoke calls its tables and figures made-up, and needs no data", function()
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  local folder = sweeps.new_folder()
  local tables, figures = 0, 0
  for _, script in ipairs(all) do
    if not is_exact(script.path) and not runs_others(script.path) then
      local status, out, err = sweeps.run(folder, here .. "/" .. script.path,
        "--smoke" .. (shorter[script.path] or ""), "MOONRANK_DATA=.")
      equal(status, 0, script.path .. ": " .. err)
      local said = said_of_tables(out)
      for i, words in ipairs(said) do
        check(words:lower():find("made-up", 1, true) or words == of_a_bound,
          ("%s, table %d: %s"):format(script.path, i, words))
      end
      check(#said > 0, script.path .. " prints a table")
      tables = tables + #said
    end
  end
  for path in sweeps.capture(("find %s -name '*.svg'"):format(folder)):gmatch "[^\n]+" do
    -- these figures show bounds only, without data
    if not path:find "sqrt_range" and not path:find "better_reference" then
      check(sweeps.read(path):lower():find("made-up", 1, true), path)
      figures = figures + 1
    end
  end
  check(tables >= 40 and figures >= 14, ("%d tables, %d figures"):format(tables, figures))
end)
