-- Tests mr.args, which reads the options of a script from its command line.
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local says = require "tests.support.says"
local read = require("moonrank.args").args
local describe, it = test.describe, test.it

local declared = { nsr = 1, lr = 1e-3, loss = "ndcg", smoke = false, cache = true, bounds = { "none", "minmax" },
  folds = { 1, 2 }, batch_size = { default = 32, help = "users per batch" }, seed = { type = "integer" },
  device = { default = "cpu", choices = { "cpu", "cuda" } } }

-- Returns the exit status and the message with which a wrong command line ends.
local function fails(words, declarations)
  local ok, e = pcall(read, declarations or declared, words)
  test.check(not ok and type(e) == "userdata", "no exit was asked for")
  return e.exit_status, e.message
end

describe("mr.args", function()
  it("gives defaults for options that were not typed", function()
    local args = read(declared, {})
    test.equal({ args.nsr, args.lr, args.loss, args.smoke, args.cache, args.bounds },
      { 1, 1e-3, "ndcg", false, true, { "none", "minmax" } })
    test.equal(args.seed, nil)
    test.equal(args.batch_size, 32)
  end)
  it("reads '--name value' and '--name=value', with dashes or underscores in names", function()
    local args = read(declared, { "--nsr", "3", "--lr=-0.5", "--batch-size", "64", "--smoke",
      "--no-cache", "--seed", "7", "--device=cuda" })
    test.equal({ args.nsr, args.lr, args.batch_size, args.smoke, args.cache, args.seed, args.device },
      { 3, -0.5, 64, true, false, 7, "cuda" })
    test.equal(math.type(args.nsr), "integer")
  end)
  it("adds --device to every script and sets the default device", function()
    local mr = require "moonrank"
    local before = mr.device()
    test.equal(read({ nsr = 1 }, { "--device", "cpu" }).device, "cpu")
    test.equal(mr.device(), "cpu")
    test.equal(read({ nsr = 1 }, {}).device, nil)
    local status, text = fails({ "--device", "gpu" }, { nsr = 1 })
    test.check(status == 2 and text:find("cpu, cuda", 1, true), text)
    if not mr.has_cuda() then
      status, text = fails({ "--device", "cuda" }, { nsr = 1 })
      test.check(status == 2 and text:find("--device", 1, true) and text:find "cuda", text)
    end
    mr.device(before)
  end)
  it("reads comma-separated lists with the type of the default's elements", function()
    local args = read(declared, { "--bounds", "none,zscore", "--folds", "4" })
    test.equal(args.bounds, { "none", "zscore" })
    test.equal(args.folds, { 4 })
    test.equal(math.type(args.folds[1]), "integer")
    test.equal(read({ on = { default = { true } } }, { "--on", "false,true" }).on, { false, true })
  end)
  it("refuses a path of the wrong kind (file, folder, new file) before the script begins", function()
    local folder = files.new_folder()
    os.execute(("cd %s && mkdir in && printf x >file && ln -s none lost && mkfifo fifo"):format(folder))
    local wrong = {
      file = { "in", "lost", "fifo", "none" },
      folder = { "file", "lost", "fifo", "none" },
      ["data folder"] = { "file", "lost", "none" },
      ["new file"] = { "in", "lost", "fifo", "file/x", "lost/x", "file/x/y" },
      ["output file"] = { "in", "lost", "fifo", "file/x", "lost/x", "file/x/y" },
      ["new folder"] = { "file", "lost", "fifo", "file/x", "lost/x" },
    }
    local right = {
      file = { "file" },
      folder = { "in" },
      ["data folder"] = { "in" },
      ["new file"] = { "file", "none", "none/x", "in/x" },
      ["output file"] = { "file", "none", "none/x", "in/x" },
      ["new folder"] = { "in", "none", "none/x" },
    }
    for kind, names in pairs(wrong) do
      local option = { at = { default = "", path = kind } }
      for _, name in ipairs(names) do
        local status, text = fails({ "--at", folder .. "/" .. name }, option)
        local named = text:find("--at: ", 1, true) == 1 and text:find(folder .. "/" .. name:match "^%w+", 1, true)
        test.check(status == 2 and named, kind .. ", " .. name .. ": " .. tostring(text))
      end
      for _, name in ipairs(right[kind]) do
        test.equal(read(option, { "--at", folder .. "/" .. name }).at, folder .. "/" .. name)
      end
      test.equal(read(option, { "--at", "" }).at, "")
    end
    local pipe = { at = { default = "", path = "pipe" } }
    test.raises(function() read(pipe, {}) end, "mr.args{at = ...}", "path", "'pipe'")
  end)
  it("refuses an output file or folder that cannot be made, before the script begins, and leaves no file", function()
    if not core.file_exists "/proc/self" then return test.skip "there is no /proc" end
    for _, kind in ipairs{ "output file", "new folder" } do
      for _, path in ipairs{ "/proc/x.html", "/proc/x/y.html" } do
        local status, text = fails({ "--at", path }, { at = { default = "", path = kind } })
        test.equal(status, 2)
        says(text, "--at", path, "cannot be written", "/proc")
        status, text = fails({}, { at = { default = path, path = kind } })
        test.equal(status, 2)
        says(text, "--at", path, "cannot be written")
      end
    end
    local folder = files.new_folder()
    read({ at = { default = "", path = "output file" } }, { "--at", folder .. "/new/x.html" })
    read({ at = { default = "", path = "new folder" } }, { "--at", folder })
    test.equal(core.list_folder(folder), {})
  end)
  it("names the refused path if it is relative, too long, empty or ends with a slash", function()
    local long = ("n"):rep(300)
    local cases = {
      { "folder", "LICENSE", "LICENSE", "folder" },
      { "folder", "nowhere", "nowhere", "folder" },
      { "data folder", "LICENSE", "LICENSE", "folder" },
      { "file", "nowhere", "nowhere", "file" },
      { "new file", "LICENSE/runs.db", "LICENSE", "folder" },
      { "new file", "nowhere/", "nowhere/", "folder" },
      { "new file", long, long, "File name too long" },
      { "new file", long .. "/runs.db", long .. "/runs.db", "File name too long" },
      { "new folder", long, long, "File name too long" },
      { "new file", "", "''" },
    }
    for _, case in ipairs(cases) do
      local status, text = fails({ "--at", case[2] }, { at = { type = "string", path = case[1] } })
      test.equal(status, 2)
      says(text, "--at", table.unpack(case, 3))
    end
  end)
  it("ends a wrong command line with status 2 and says what was expected", function()
    local cases = {
      { { "--nrs", "2" }, "'--nrs'", "'--nsr'", "--help" },
      { { "--nsr", "two" }, "--nsr", "integer", "'two'" },
      { { "--nsr", "2.5" }, "--nsr", "integer", "'2.5'" },
      { { "--lr=fast" }, "--lr", "number", "'fast'" },
      { { "--nsr" }, "--nsr", "integer" },
      { { "--folds", "1,x" }, "--folds", "integer", "'1,x'" },
      { { "--device", "tpu" }, "--device", "cpu", "cuda", "'tpu'" },
      { { "--smoke=maybe" }, "--smoke", "'maybe'" },
      { { "--no-smoke=true" }, "--no-smoke" },
      { { "word" }, "'word'", "--help" },
    }
    for _, case in ipairs(cases) do
      local status, message = fails(case[1])
      test.equal(status, 2)
      says(message, table.unpack(case, 2))
    end
    says(select(2, fails({}, { data = { type = "string", required = true } })), "--data")
  end)
  it("refuses integers that 64 bits do not hold, and takes the largest and the smallest", function()
    local own = { seed = 1, rate = 0.5, folds = { 1, 2 } }
    local wrong = { "-9223372036854775809", "9223372036854775808", "-0x8000000000000001", "0x8000000000000000",
      "0xffffffffffffffff", "0xffffffffffffffffff", "-9223372036854775808.0", "9007199254740993.0", "1e300", "inf", "" }
    for _, word in ipairs(wrong) do
      for _, name in ipairs{ "--seed", "--folds" } do
        local status, message = fails({ name, word }, own)
        test.equal(status, 2)
        says(message, name, "integer", "'" .. word .. "'")
      end
    end
    says(select(2, fails({ "--rate", "0xffffffffffffffffff" }, own)), "--rate", "number", "'0xffffffffffffffffff'")
    for _, word in ipairs{ "1e400", "-1e400", ("9"):rep(400), "0x1p2000" } do
      says(select(2, fails({ "--rate", word }, own)), "--rate", "number", word)
      says(select(2, fails({ "--rates", "1," .. word }, { rates = { 0.5 } })), "--rates", "number", "1," .. word)
    end
    local right = { ["-9223372036854775808"] = math.mininteger, ["9223372036854775807"] = math.maxinteger,
      ["0x7fffffffffffffff"] = math.maxinteger, ["0x0"] = 0, ["-0x10"] = -16, ["0x000000000000000000ff"] = 255,
      ["+5"] = 5, ["1e3"] = 1000, ["2.0"] = 2 }
    for word, value in pairs(right) do
      local args = read(own, { "--seed", word, "--folds", word })
      test.equal({ args.seed, args.folds, math.type(args.seed) }, { value, { value }, "integer" }, word)
    end
    test.equal(read(own, { "--rate", "0x1p-2" }).rate, 0.25)
    test.equal(read(own, { "--rate", "1e300" }).rate, 1e300)
  end)
  it("refuses lists in which a value is empty", function()
    for _, word in ipairs{ "1,,2", ",1", "1,", ",", "" } do
      local status, message = fails({ "--folds=" .. word })
      test.equal(status, 2)
      says(message, "--folds", "integer", "'" .. word .. "'")
    end
    says(select(2, fails{ "--bounds", "none,,minmax" }), "--bounds", "'none,,minmax'")
  end)
  it("applies sets of a flag, and refuses options that the flag sets or ignores beside it", function()
    local with_smoke = { epochs = 40, losses = { "ndcg", "ap" }, data = "movielens", lr = 0.1,
      smoke = { default = false, help = "to see that it runs",
        sets = { epochs = 2, losses = { "ap" } }, ignores = { "data" } } }
    local args = read(with_smoke, { "--smoke", "--lr", "0.5" })
    test.equal({ args.epochs, args.losses, args.lr, args.data }, { 2, { "ap" }, 0.5, "movielens" })
    args = read(with_smoke, { "--no-smoke", "--losses", "rr", "--data", "here" })
    test.equal({ args.epochs, args.losses, args.data }, { 40, { "rr" }, "here" })
    for _, case in ipairs{ { { "--losses", "ndcg", "--smoke" }, "--losses", "ap" }, { { "--smoke", "--epochs=2" },
      "--epochs", "2" },
      { { "--smoke", "--data", "movielens" }, "--data" } } do
      local status, message = fails(case[1], with_smoke)
      test.equal(status, 2)
      says(message, "--smoke", table.unpack(case, 2))
    end
    local _, help = fails({ "--help" }, with_smoke)
    says(help, "to see that it runs", "epochs", "2", "losses", "ap", "--data")
    _, help = fails({ "--help" }, { images = "", smoke = { default = false, sets = { images = "" } } })
    says(help, "images is ''")
    test.raises(function() read({ smoke = { default = false, sets = { epoch = 2 } }, epochs = 3 }, {}) end,
      "'smoke'", "'epoch'")
    test.raises(function() read({ smoke = { default = 1, ignores = { "epochs" } }, epochs = 3 }, {}) end,
      "'smoke'", "flag")
  end)
  it("refuses numbers out of range, short lists, repeated choices and wrong file endings", function()
    local own = { fold = { default = 1, least = 1, most = 5 }, sizes = { default = { 25, 50 }, least = 2 },
      sets = { default = { "a" }, choices = { "a", "b" } }, seeds = { default = { 1, 2 }, distinct = true },
      out = { default = "x.svg", endings = { ".svg", ".png" } }, rate = { default = 0.1, above = 0 },
      shares = { default = { 0.5 }, above = 0, below = 1 },
      ratings = { default = { 5, 4 }, count = { 2, 3 } }, cap = { type = "number", above = 0, most = 2 } }
    for _, case in ipairs{
      { { "--rate", "0" }, "--rate", "above 0", "'0'" },
      { { "--rate", "-1" }, "--rate", "above 0", "'-1'" },
      { { "--ratings", "5" }, "--ratings", "2 to 3 values", "'5'" },
      { { "--ratings", "5,4,3,2" }, "--ratings", "2 to 3 values", "'5,4,3,2'" },
      { { "--shares", "0.1,1" }, "--shares", "above 0", "below 1", "'0.1,1'" },
      { { "--cap", "0" }, "--cap", "above 0 and up to 2", "'0'" },
      { { "--cap", "2.5" }, "--cap", "'2.5'" },
      { { "--fold", "0" }, "--fold", "1", "5", "'0'" },
      { { "--fold=6" }, "--fold", "1", "5", "'6'" },
      { { "--sizes=3,1" }, "--sizes", "2", "'3,1'" },
      { { "--sizes=" }, "--sizes", "2", "''" },
      { { "--sets=c" }, "--sets", "a, b", "'c'" },
      { { "--sets", "b,a,b" }, "--sets", "'b,a,b'" },
      { { "--seeds", "3,3" }, "--seeds", "'3,3'" },
      { { "--out", "x.doc" }, "--out", ".svg, .png", "'x.doc'" },
      { { "--out", ".svg" }, "--out", ".svg, .png", "'.svg'" },
      { { "--lr", "nan" }, "--lr", "number", "'nan'" },
    } do
      local status, message = fails(case[1], case[1][1] ~= "--lr" and own or nil)
      test.equal(status, 2)
      says(message, table.unpack(case, 2))
    end
    local args = read(own, { "--fold=5", "--sizes=2,2", "--sets=b,a", "--out", "folder/Y.PNG" })
    test.equal({ args.fold, args.sizes, args.sets, args.out }, { 5, { 2, 2 }, { "b", "a" }, "folder/Y.PNG" })
    local _, help = fails({ "--help" }, own)
    test.check(help:find("(from 1 to 5; default 1)", 1, true) and help:find("(of a, b; default a)", 1, true), help)
  end)
  it("writes --help from the declaration and the script's first comment", function()
    local comment = "-- Does bounding help?\n-- Time: seconds.\n\n-- not this\n"
    local path = files.written("#!/usr/bin/env moonrank\n" .. comment .. "local x\n")
    local before = rawget(_G, "arg")
    rawset(_G, "arg", { [0] = path, "--help" })
    local ok, e = pcall(read, declared)
    rawset(_G, "arg", before)
    test.check(not ok)
    test.equal(e.exit_status, 0)
    local head = "usage: moonrank " .. path .. " [options]\n\nDoes bounding help?\nTime: seconds.\n\noptions:\n"
    says(e.message, head,
      "  --batch-size INTEGER  users per batch (default 32)\n", "  --bounds STRING,...   (default none,minmax)\n",
      "  --device STRING       (one of cpu, cuda; default cpu)\n", "  --no-cache\n")
    test.check(not e.message:find("not this", 1, true))
  end)
  it("shows options as they are typed, with hyphens, in --help and errors, and takes underscores", function()
    test.equal(read(declared, { "--batch_size=3" }).batch_size, 3)
    test.equal(read({ use_cache = true }, { "--no_use_cache" }).use_cache, false)
    local own = { batch_size = { default = 8, least = 1 }, full_size = { default = false, sets = { batch_size = 4 } },
      no_store = { default = false, ignores = { "batch_size" } }, use_cache = true, at_once = { type = "integer",
        required = true } }
    local _, help = fails({ "--help" }, own)
    says(help, "--batch-size INTEGER", "--no-use-cache", "batch-size is 4", "not beside --batch-size")
    test.check(not help:match("options:.*"):find "%w_%w", help)
    for _, case in ipairs{ { { "--batch_size=0" }, "--batch-size", "'0'" },
      { { "--batch_szie", "2" }, "'--batch_szie'", "'--batch-size'" }, { { "--batch_size" }, "--batch-size" },
      { { "--full_size", "--batch_size", "2" }, "--batch-size", "--full-size" },
      { { "--no-store", "--batch_size", "2" }, "--batch-size", "--no-store" }, { {}, "--at-once" } } do
      local status, message = fails(case[1], own)
      test.equal(status, 2)
      says(message, table.unpack(case, 2))
      test.check(not message:gsub("'%-%-batch_szie'", ""):find "%-%-%w+_", message)
    end
  end)
  it("shows one default of each option: in words if the declaration has words, else the value", function()
    local _, help = fails({ "--help" }, { workers = { type = "integer", help = "processes", shown = "one per core" },
      data = { default = "", help = "a folder", shown = "where data are looked for" }, seed = { default = 1 } })
    for _, line in ipairs{ "processes (default one per core)", "a folder (default where data are looked for)",
      "--seed INTEGER     (default 1)" } do test.check(help:find(line, 1, true), help) end
    for line in help:gmatch "[^\n]+" do test.check(select(2, line:gsub("default", "")) <= 1, line) end
  end)
  it("wraps --help at the terminal's width", function()
    local program = dofile "tests/support/program.lua"
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    local script = 'require("moonrank").args{ seed = { default = 1, help = "' .. ("word "):rep(40) .. '" } }'
    local _, text = program.run(("COLUMNS=50 '%s' '%s' --help"):format(program.moonrank, files.written(script)))
    local lines = 0
    for line in text:gmatch "[^\n]+" do
      lines = lines + 1
      test.check(#line <= 50 or line:find "^usage", line)
    end
    test.check(lines > 6 and select(2, text:gsub("word", "")) == 40, text)
  end)
  it("shows no default in --help if the default is an empty text or list", function()
    local ok, e = pcall(read, { out = { default = "", help = "a file" }, names = { default = {}, help = "of models" },
      seed = { default = 1, help = "of all" } }, { "--help" })
    test.check(not ok)
    local function of(name) return e.message:match("%-%-" .. name .. " [^\n]*") or name end
    test.check(of("seed"):find("default 1", 1, true), of "seed")
    for _, name in ipairs{ "out", "names" } do test.check(not of(name):find "default", of(name)) end
  end)
  it("refuses declarations whose fields contradict each other", function()
    for _, case in ipairs{
      { { default = 1, least = "1" }, "mr.args{x = ...}", "least", "'1'" },
      { { default = 1, help = 2 }, "mr.args{x = ...}", "help", "2" },
      { { type = "int" }, "mr.args{x = ...}", "type", "'int'" },
      { { type = "integer", default = "1" }, "'x'", "default", "string", "integer" },
      { { default = "a", most = 2 }, "'x'", "most", "string" },
      { { default = "a", above = 2 }, "'x'", "above", "string" },
      { { default = 3, count = { 1, 2 } }, "'x'", "count", "integer" },
      { { default = { 3 }, count = { 2, 1 } }, "mr.args{x = ...}", "count" },
      { { default = 1, endings = { ".svg" } }, "'x'", "endings", "integer" },
      { { default = "a", endings = { 1 } }, "mr.args{x = ...}", "endings[1]", "1" },
      { { default = { { 1 } } }, "'x'", "list" },
      { { default = false, sets = { y = "1" } }, "'x'", "'y'", "string", "integer" },
      { { default = 1, sets = { y = 1 } }, "'x'", "flag" },
      { { default = false, ignores = { "z" } }, "'x'", "'z'" },
    } do test.raises(function() read({ x = case[1], y = 2 }, {}) end, table.unpack(case, 2)) end
    test.equal(read({ x = { type = "number", default = 1 } }, {}).x, 1)
  end)
  it("refuses undeclared options when the script reads them, and unknown fields of declarations", function()
    local args = read(declared, {})
    test.raises(function() return args.nrs end, "'nrs'", "'nsr'")
    test.raises(function() read({ x = { defualt = 1 } }, {}) end, "mr.args{x = ...}", "'defualt'", "'default'")
    test.raises(function() read({ x = { help = "?" } }, {}) end, "'x'", "option")
    test.raises(function() read({ "x" }, {}) end, "options", "mr.args", "{nsr = 1}")
  end)
end)
