-- Tests that nothing that is written or read depends on the locale. A script must print and write the same bytes in
-- locales with a decimal comma, with 8-bit characters and with UTF-8, and each run must read what the others wrote.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises, skip = test.it, test.equal, test.check, test.raises, test.skip

local moonrank = sweeps.moonrank

-- A script that prints and writes numbers, patterns, sorted texts, tables, figures, models and studies. The study is
-- read again by later runs.
local script = [[
local mr = require "moonrank"
local names = { "Über", "Zoë", "ab", "Apfel", "été" }
table.sort(names)
print(table.concat(names, " "), ("%g %.3f"):format(0.5, 1234567.25), tostring(0.1), tonumber "2.5", tonumber "2,5")
print(("ÀÜ\xdc"):upper() == "ÀÜ\xdc", ("Ü\xe4"):find "%a", ("\xc3\x9c"):find "%c", ("\xa0"):find "%s")
print(mr.tensor{ 0.5, 1e-7 }, mr.bounds.distribution("ndcg", { n = 5, p = 2 }))
local function write(name, text)
  local file = assert(io.open(name, "wb"))
  file:write(text)
  file:close()
end
write("letor.txt", "2 qid:1 1:0.5 2:1e-3\n0 qid:1 1:1.5 2:2\n")
print(mr.data.letor("letor.txt").features)
local model = mr.models.linear{ inputs = 2 }
model:save "linear.model"
print(mr.models.load "linear.model")
local results = mr.sweep{ name = "Über", store = arg[1], workers = tonumber(arg[2]), progress = false,
  metric = "größe", direction = "maximize", sampler = "random", trials = 6, settings = { art = "grün", rate = 0.25 },
  space = { form = mr.choice{ "Über", "été", 0.5 }, rate = mr.loguniform(0.1, 0.2) },
  run = function(trial) return { ["größe"] = #tostring(trial.form) + trial.rate } end }
local columns = { columns = { "number", "form", "rate", "größe" } }
print(results:trials(columns))
write("table.csv", results:trials(columns):to_csv())
write("table.json", results:trials(columns):to_json())
write("table.tex", results:trials(columns):to_latex())
write("table.md", results:trials(columns):to_markdown())
if #arg == 3 then
  local figure = mr.plot.lines and results:marginal "rate"
  if figure then figure:save "figure.svg" end
end
]]

local files = { "out", "table.csv", "table.json", "table.tex", "table.md", "linear.model", "figure.svg" }

-- Makes German locales in a folder. Returns their names, or nil and the reason if this is impossible.
local function make_locales(folder)
  if not os.execute "command -v localedef >/dev/null" then
    return nil, "localedef is not there (on Debian: apt install locales)"
  end
  for _, charset in ipairs{ "UTF-8", "ISO-8859-1" } do
    os.execute(("localedef -i de_DE -f %s %s/de_DE.%s >/dev/null 2>&1"):format(charset, folder, charset))
    local ask = "LOCPATH=%s LC_ALL=de_DE.%s locale charmap decimal_point 2>&1"
    local found = sweeps.capture(ask:format(folder, charset))
    if found ~= charset .. "\n,\n" then
      return nil, "localedef does not make de_DE." .. charset .. " (on Debian: apt install locales)"
    end
  end
  return { "LC_ALL=C", "LC_ALL=C.UTF-8", ("LOCPATH=%s LC_ALL=de_DE.UTF-8"):format(folder),
    ("LOCPATH=%s LC_ALL=de_DE.ISO-8859-1"):format(folder) }
end

it("moonrank writes the same bytes in every locale, and reads what it wrote in another one", function()
  if not moonrank then return skip "MOONRANK does not name the program" end
  local place = sweeps.new_folder()
  os.execute(("mkdir %s/locales"):format(place))
  local locales, why = make_locales(place .. "/locales")
  if not locales then return skip(why) end
  local figure = os.execute "command -v gnuplot >/dev/null" and "figure" or ""
  local expected
  for i, locale in ipairs(locales) do
    local folder = ("%s/%d"):format(place, i)
    os.execute("mkdir " .. folder)
    sweeps.write(folder .. "/script.lua", script)
    -- trials run in this process (0 workers) and in a worker (1) in turn
    local status, _, err = sweeps.run(folder, "script.lua", ("store.db %d %s"):format(i % 2, figure), locale)
    check(status == 0, locale .. ": " .. err)
    local found = {}
    for _, name in ipairs(files) do found[name] = sweeps.read(folder .. "/" .. name) end
    expected = expected or found
    for _, name in ipairs(files) do
      local unlike = ("%s, %s:\n%s\ninstead of\n%s"):format(locale, name, found[name], expected[name])
      check(found[name] == expected[name], unlike)
    end
    for j, other in ipairs(locales) do  -- each locale's run reads the store that each other one wrote
      status, _, err = sweeps.run(folder, "script.lua", "store.db 0", other)
      check(status == 0, ("written in %s, read in %s: %s"):format(locale, other, err))
      check(j ~= i or sweeps.read(folder .. "/out") == expected.out, "the study goes on")
    end
  end
  check(figure == "" or #expected["figure.svg"] > 1000, "the figure")
  check(expected.out:find("0.5", 1, true) and #expected["table.json"] > 100, expected.out)
end)

it("os.setlocale refuses every locale other than C, except for dates", function()
  local before = os.setlocale()
  equal(before, "C")
  for _, category in ipairs{ "all", "numeric", "ctype", "collate" } do
    raises(function() os.setlocale("de_DE.UTF-8", category) end, "de_DE.UTF-8")
    equal(os.setlocale("C", category), "C")
  end
  raises(function() os.setlocale "" end, "locale")
  check(os.setlocale("C", "time"), "the form of dates may change")
  equal(os.setlocale(), "C")
end)

it("mr.sweep refuses texts that are not UTF-8 before a trial runs", function()
  local mr = require "moonrank"
  local place = sweeps.new_folder()
  local ran = 0
  local function sweep(options)
    local o = { name = "s", store = place .. "/r.db", workers = 0, progress = false, metric = "x",
      direction = "maximize", space = { i = mr.range(1, 2) }, run = function()
        ran = ran + 1
        return 1
      end }
    for name, value in pairs(options) do o[name] = value end
    return mr.sweep(o)
  end
  raises(function() sweep{ name = "\xdcber" } end, "name", "'\\xdcber'")
  raises(function() sweep{ metric = "gr\xf6\xdfe" } end, "metric")
  raises(function() sweep{ settings = { kind = "gr\xfcn" } } end, "kind = gr\\xfcn")
  raises(function() sweep{ space = { kind = mr.choice{ "gr\xfcn" } } } end, "UTF-8")
  equal(ran, 0)
  check(not require("moonrank.core").file_exists(place .. "/r.db"), "nothing is made")
  local results = sweep{ name = "returned", run = function(trial)
    if trial.i == 1 then return { x = 1, ["gr\xfcn"] = 2 } end
    error "gr\xfcn"
  end }
  for _, row in ipairs(results:trials{ columns = { "state", "reason" } }.rows) do
    equal(row[1], "failed")
    check(utf8.len(row[2]) and row[2]:find("gr\\xfcn", 1, true), row[2])
  end
end)
