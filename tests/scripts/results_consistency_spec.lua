-- Tests that the committed results files are consistent in themselves, with the printed numbers that scripts show, and
-- with the lists of scripts that make them.
local mr = require "moonrank"
local test = require "moonrank.test"
local core = require "moonrank.core"
local it, check, equal, near = test.it, test.check, test.equal, test.near
local results_file, documents = dofile "docs/report/results_file.lua", dofile "docs/report/documents.lua"
local sections, claims = dofile "docs/report/sections.lua", dofile "docs/report/claims.lua"
local scripts, in_process = dofile "tests/support/scripts.lua", dofile "tests/support/in_process.lua"
local program, sweeps = dofile "tests/support/program.lua", dofile "tests/support/sweeps.lua"

-- Calls visit(cells, path, document) for every results file.
local function each_file(visit)
  local count = 0
  for _, name in ipairs(documents.names) do
    for _, file in ipairs(results_file.files("docs/results", name)) do
      local path = ("docs/results/%s/%s"):format(name, file)
      visit(results_file.read(path), path, name)
      count = count + 1
    end
  end
  check(count > 0, "there are results files")
end

-- Returns the values of a results file by table, row and column: found[table][row][column].
local function by_row(cells)
  local found = {}
  for _, cell in ipairs(cells) do
    local rows = found[cell.table] or {}
    rows[cell.row] = rows[cell.row] or {}
    rows[cell.row][cell.column], found[cell.table] = cell.value, rows
  end
  return found
end

local function file_of(path) return by_row(results_file.read("docs/results/" .. path)) end

-- Returns true if a text such as 2026-02-28 is a day of the calendar.
local function is_day(text)
  local year, month, day = text:match "^(%d%d%d%d)%-(%d%d)%-(%d%d)$"
  if not year then return false end
  local time = os.time{ year = tonumber(year), month = tonumber(month), day = tonumber(day), hour = 12 }
  return os.date("%Y-%m-%d", time) == text
end

-- Splits a command into words. Text in single quotes is one word.
local function words_of(command)
  local words = {}
  for quoted, plain in command:gsub("'([^']*)'", function(text) return "\1" .. text:gsub(" ", "\2") end)
    :gmatch "(\1?)(%S+)" do
    words[#words + 1] = quoted ~= "" and plain:gsub("\2", " ") or plain
  end
  return words
end

it("is_day takes days of the calendar only", function()
  equal({ is_day "2026-11-26", is_day "2028-02-29", is_day "2026-02-29", is_day "2026-99-99", is_day "2026-11-00" },
    { true, true, false, false, false })
end)

it("results files have dates of the calendar that are not in the future", function()
  local tomorrow = os.date("!%Y-%m-%d", os.time() + 24 * 60 * 60)
  each_file(function(cells, path)
    for _, cell in ipairs(cells) do
      check(is_day(cell.date) and cell.date >= "2026-01-01" and cell.date <= tomorrow, path .. ": " .. cell.date)
    end
  end)
end)

it("results files name a script that exists, and are named by its command", function()
  each_file(function(cells, path)
    local words = words_of(cells[1].command)
    equal(words[1], "moonrank")
    check(core.is_file(words[2]), ("%s: %s does not exist"):format(path, words[2]))
    local script = { path = words[2], words = { table.unpack(words, 3) } }
    local name = path:match "([^/]+)%.csv$"
    -- scripts/objectives/seeds.lua is not in the list of any document: its results file was made by a command of its
    -- own
    if not script.path:find "objectives/seeds%.lua$" then equal(sections.file_name(script), name, path) end
  end)
end)

scripts.it("results files have commands whose options the scripts take", {}, function()
  each_file(function(cells, path)
    local words = words_of(cells[1].command)
    local _, help = program.run(("%s %s --help"):format(program.moonrank, words[2]))
    for _, word in ipairs(words) do
      local pattern = "\n  " .. word:gsub("[_-]", "%%-") .. "%f[%s]"
      if word:find "^%-%-" then check(help:find(pattern), ("%s: no option %s"):format(path, word)) end
    end
  end)
end)

-- Results files that were made by other commands than those of the documents' lists, and a section with some runs
-- missing.
local by_hand = { "objectives/seeds", "objectives/seeds_mslr", "sigir21/citeulike_rr",
  "sigir21/citeulike_ndcg_ap_nrbp", "sigir21/citeulike_ndcg", "sigir21/citeulike_recipes_lambda",
  "sigir21/models_of_nrbp_published_citeulike", "sigir21/citeulike_nrbp", "sigir21/citeulike_ap",
  "ir_benchmark/table_2_gowalla_BPR", "ir_benchmark/table_2_gowalla_SL", "ir_benchmark/table_2_gowalla_PSL",
  "ir_benchmark/table_2_gowalla_BSL", "ir_benchmark/table_2_gowalla_LLPAUC", "ir_benchmark/table_2_gowalla_SL_20",
  "grid/grid_mq2008" }
for i = 1, 5 do
  by_hand[#by_hand + 1] = ("sigir21/figure_%d_published_citeulike_listwise_ndcg_ap_nrbp"):format(i)
end
local not_made = { ["grid/grid"] = true, ["ir_benchmark/table_2_health"] = true,
  ["ir_benchmark/bounds_health"] = true, ["ir_benchmark/bounds_movielens"] = true }

-- Returns the names of the results files that the sections of a document write.
local function declared(document)
  local found = {}
  local function note(script) found[#found + 1] = ("%s/%s"):format(document, sections.file_name(script)) end
  if document ~= "thesis" then
    for _, script in ipairs(dofile(("scripts/%s/all.lua"):format(document))) do note(script) end
    return found
  end
  in_process.with_words({}, function()
    return in_process.load("scripts/thesis/document.lua", { sections = function(own)
      rawset(own, "run", function(script)
        note(script)
        return { tables = {}, text = "" }
      end)
    end })
  end)
  return found
end

it("the committed results files are those of the documents' sections", function()
  local committed, known = {}, {}
  each_file(function(_, path) committed[path:match "results/(.*)%.csv$"] = true end)
  for _, name in ipairs(by_hand) do known[name] = true end
  for _, document in ipairs(documents.names) do
    for _, name in ipairs(declared(document)) do
      known[name] = true
      -- of the document sigir21, only Table 1 and LambdaRank have results files
      local is_made = document ~= "sigir21" or name:find "table_1$" or name:find "published_lambda$"
      if is_made and not not_made[name] then check(committed[name], name .. ".csv is missing") end
    end
  end
  for name in pairs(known) do
    if committed[name] then committed[name] = nil end
  end
  for _, name in ipairs(by_hand) do check(core.is_file(("docs/results/%s.csv"):format(name)), name) end
  equal(next(committed), nil, "a file that no section has")
end)

local may_wait = { ["sigir21/citeulike.csv"] = true, ["ir_benchmark/table_2_health.csv"] = true,
  ["ir_benchmark/bounds_health.csv"] = true, ["ir_benchmark/bounds_movielens.csv"] = true }

it("only statements on listwise losses of CiteULike-a and on Yang et al. may wait for their files", function()
  for _, claim in ipairs(claims.read "docs/results") do
    check(claim.said or may_wait[claim.file], claim.file)
  end
end)

it("changes are the differences of the means that a file has beside them", function()
  local count = 0
  for _, path in ipairs{ "thesis/table_5_1.csv", "thesis/table_5_1_mq2008.csv" } do
    for _, rows in pairs(file_of(path)) do
      for row, of in pairs(rows) do
        local base = rows[row:gsub("[^;]+$", " none")]
        if of.change then
          count = count + 1
          near(of.change, of.mean - base.mean, { atol = 2e-6 }, path .. ": " .. row)
        end
        if of.difference then
          count = count + 1
          near(of.difference, of.mean - of.published, { atol = 2e-6 }, path .. ": " .. row)
        end
      end
    end
  end
  for row, of in pairs(file_of("lecture/profit.csv")[""]) do
    local base = file_of("lecture/profit.csv")[""][row:match "^[^;]+" .. "; relevance"]
    if of.change then
      count = count + 1
      near(of.change, of["profit@10"] - base["profit@10"], { atol = 2e-4 }, row)
    end
  end
  local queries = file_of "cmu/table_1.csv"
  local means = {}
  for row, of in pairs(queries["Test nDCG@10"]) do
    means[row:gsub("; [^;]*;", ";")] = of["nDCG@10"]
  end
  for row, of in pairs(file_of("cmu/differences.csv")["Differences in test nDCG@10"]) do
    local data, a, b = row:match "^(.-); (.-); (.-)$"
    count = count + 1
    near(of["a - b"], means[data .. "; " .. a] - means[data .. "; " .. b], { atol = 2e-6 }, row)
  end
  check(count > 200, count .. " changes were compared")
end)

-- Returns a study in which every training run has the same values of two lists.
local function made_study(space)
  local values = { 0.25, 0.75 }
  return mr.sweep{ name = "made", store = sweeps.new_folder() .. "/made.db", workers = 0, progress = false,
    metric = "valid", direction = "maximize", space = space, run = function()
      return { valid = 0.5, own = 0.5, ["ndcg@10"] = 0.5, per_list = { own = values, list = { 1, 2 } } }
    end }
end

-- Returns the rows of a script's table by their names in a results file, with the columns as keys. `patch` replaces
-- data and training runs in the file of this name, which the script loads.
local function shown_by(script, words, file, patch)
  local one, found = in_process.section(("scripts/%s.lua"):format(script), words, { [file] = patch }).tables[1], {}
  local records = in_process.records(one)
  for r, name in ipairs((results_file.row_names(one))) do found[name] = records[r] end
  return found
end

local function thesis_movielens()
  return shown_by("thesis/table_5_1", {}, "training", function(training)
    rawset(training, "movielens", function(args)
      local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = 1 }
      return training.named(args, training.protocol.sets.movielens(ratings), "movielens", "MovieLens")
    end)
    rawset(training, "sweep", function(_, set)
      return made_study{ nsr = mr.choice(set.values), loss = mr.choice(training.losses),
        bound = mr.choice(training.bounds), split = mr.range(1, 1) }
    end)
  end)
end

local function queries_of_cmu()
  return shown_by("cmu/table_1", { "--sets", "mslr", "--seeds", "1" }, "queries", function(queries)
    local names, best = {}, {}
    for i, system in ipairs(queries.protocol.systems) do
      names[i], best[system.title] = system.title, { rate = 0.01 }
    end
    local fold = { test = { lists = mr.lists{ { 1, 0 }, { 0, 1 } } } }
    rawset(queries, "set", function()
      return { title = "MSLR slice", folds = 1, fold = function() return fold end }
    end)
    rawset(queries, "runs", function()
      return made_study{ system = mr.choice(names), split = mr.range(1, 1) }, best
    end)
  end)
end

local function data_of_sigir21()
  return shown_by("sigir21/table_1", { "--sets", "citeulike,citeulike_splits" }, "data", function(data)
    local part = { users = mr.tensor{ 1, 2 }, items = mr.tensor{ 1, 2 }, lists = { rows = 2 } }
    local titles = { citeulike = "CiteULike-a, published splits", citeulike_splits = "CiteULike-a" }
    rawset(data, "open", function(_, name)
      return { title = titles[name], splits = { 0 }, fold = function() return { train = part, test = part } end }
    end)
  end)
end

it("printed numbers of results files are those that the scripts show", function()
  local count = 0
  local function same(value, printed, row)
    count = count + 1
    check(value ~= nil and printed ~= nil, row)
    near(value, printed, { atol = 1e-9 }, row)
  end
  -- Compares a column of printed numbers in a results file with the rows that a script shows. A row has a printed
  -- number in both or in neither.
  local function compare(rows, shown, column)
    for row, of in pairs(rows) do
      local printed = tonumber((shown[row] or {})[column])
      if of[column] or printed then same(of[column], printed, row) end
    end
  end
  compare(file_of("thesis/table_5_1.csv")[""], thesis_movielens(), "published")
  compare(file_of("cmu/table_1.csv")["Test nDCG@10"], queries_of_cmu(), "printed (WEB10K)")
  local sets = data_of_sigir21()
  for _, key in ipairs{ "users", "items", "ratings", "density" } do
    compare(file_of("sigir21/table_1.csv")[""], sets, key .. ", printed")
  end
  local thesis, losses = dofile "scripts/thesis/published.lua", { nDCG = "ndcg", AP = "ap", nRBP = "nrbp" }
  for row, of in pairs(file_of("thesis/table_5_1_mq2008.csv")[""]) do
    local loss, bound = row:match "; (%w+); ([%w_]+)$"
    if of.published then same(of.published, thesis.table_5_1_mq2008[losses[loss]][bound], row) end
  end
  local faces = dofile("scripts/cmu/tables.lua").published
  for _, number in ipairs{ 2, 3 } do
    local rows, found = file_of(("cmu/table_%d.csv"):format(number))[""], {}
    for row, of in pairs(rows) do found[row:match "; (.+)$"] = of.printed end
    for system, printed in pairs(faces[number]) do same(found[system], printed, system) end
  end
  check(count > 80, count .. " printed numbers were compared")
end)
