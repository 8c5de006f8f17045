-- The options of a script, as typed on its command line.
local test = require "moonrank.test"
local read = require("moonrank.args").args
local describe, it = test.describe, test.it

local declared = { nsr = 1, lr = 1e-3, loss = "ndcg", smoke = false, cache = true, bounds = { "none", "minmax" }, folds = { 1, 2 },
  batch_size = { default = 32, help = "users per batch" }, seed = { type = "integer" },
  device = { default = "cpu", choices = { "cpu", "cuda" } } }

-- The exit status and the text that a wrong command line ends with.
local function fails(words, declarations)
  local ok, e = pcall(read, declarations or declared, words)
  test.check(not ok and type(e) == "userdata", "no exit was asked for")
  return e.exit_status, e.message
end

describe("args", function()
  it("gives defaults where nothing was typed", function()
    local args = read(declared, {})
    test.equal({ args.nsr, args.lr, args.loss, args.smoke, args.cache, args.bounds },
      { 1, 1e-3, "ndcg", false, true, { "none", "minmax" } })
    test.equal(args.seed, nil)
    test.equal(args.batch_size, 32)
  end)
  it("reads values in both forms, with either dash", function()
    local args = read(declared, { "--nsr", "3", "--lr=-0.5", "--batch-size", "64", "--smoke",
      "--no-cache", "--seed", "7", "--device=cuda" })
    test.equal({ args.nsr, args.lr, args.batch_size, args.smoke, args.cache, args.seed, args.device },
      { 3, -0.5, 64, true, false, 7, "cuda" })
    test.equal(math.type(args.nsr), "integer")
  end)
  it("has a device in every script, which it sets", function()
    local mr = require "moonrank"
    local before = mr.device()
    test.equal(read({ nsr = 1 }, { "--device", "cpu" }).device, "cpu")
    test.equal(mr.device(), "cpu")
    test.equal(read({ nsr = 1 }, {}).device, nil)
    local status, text = fails({ "--device", "gpu" }, { nsr = 1 })
    test.check(status == 2 and text:find("cpu, cuda", 1, true), text)
    if not mr.has_cuda() then test.raises(function() read({ nsr = 1 }, { "--device", "cuda" }) end, "cuda") end
    mr.device(before)
  end)
  it("reads lists of the default's type", function()
    local args = read(declared, { "--bounds", "none,zscore", "--folds", "4" })
    test.equal(args.bounds, { "none", "zscore" })
    test.equal(args.folds, { 4 })
    test.equal(math.type(args.folds[1]), "integer")
  end)
  it("refuses paths that lead to something else, before the script begins", function()
    local folder = os.tmpname()
    os.remove(folder)
    os.execute(("mkdir %s && cd %s && mkdir in && printf x >file && ln -s none lost && mkfifo fifo"):format(folder, folder))
    local wrong = { file = { "in", "lost", "fifo", "none" }, folder = { "file", "lost", "fifo", "none" },
      ["data folder"] = { "file", "lost", "none" }, ["new file"] = { "in", "lost", "fifo", "file/x", "lost/x", "file/x/y" },
      ["new folder"] = { "file", "lost", "fifo", "file/x", "lost/x" } }
    local right = { file = { "file" }, folder = { "in" }, ["data folder"] = { "in" }, ["new file"] = { "file", "none", "none/x", "in/x" },
      ["new folder"] = { "in", "none", "none/x" } }
    for kind, names in pairs(wrong) do
      for _, name in ipairs(names) do
        local status, text = fails({ "--at", folder .. "/" .. name }, { at = { default = "", path = kind } })
        test.check(status == 2 and text:find("--at: ", 1, true) == 1 and text:find(folder .. "/" .. name:match "^%w+", 1, true),
          kind .. ", " .. name .. ": " .. tostring(text))
      end
      for _, name in ipairs(right[kind]) do
        test.equal(read({ at = { default = "", path = kind } }, { "--at", folder .. "/" .. name }).at, folder .. "/" .. name)
      end
      test.equal(read({ at = { default = "", path = kind } }, { "--at", "" }).at, "")
    end
    os.execute("rm -r " .. folder)
    test.raises(function() read({ at = { default = "", path = "pipe" } }, {}) end, "mr.args{at = ...}", "path", "'pipe'")
  end)
  it("names the path that it refuses, also of one word, of too many letters, without a name at its end, and none", function()
    local long = ("n"):rep(300)
    local cases = {
      { "folder", "LICENSE", "LICENSE: is not a folder" },
      { "folder", "nowhere", "nowhere: there is no such folder" },
      { "data folder", "LICENSE", "LICENSE: is not a folder" },
      { "file", "nowhere", "nowhere: there is no such file" },
      { "new file", "LICENSE/runs.db", "LICENSE: is not a folder" },
      { "new file", "nowhere/", "nowhere/: is the name of a folder, expected that of a file" },
      { "new file", long, long .. ": File name too long" },
      { "new file", long .. "/runs.db", long .. "/runs.db: File name too long" },
      { "new folder", long, long .. ": File name too long" },
      { "new file", "", "expected the path of a new file, got ''" },
    }
    for _, case in ipairs(cases) do
      local status, text = fails({ "--at", case[2] }, { at = { type = "string", path = case[1] } })
      test.equal({ status, text }, { 2, "--at: " .. case[3] })
    end
  end)
  it("ends with status 2 and says what was expected", function()
    local cases = {
      { { "--nrs", "2" }, "unknown option '--nrs', did you mean '--nsr'? (--help lists them)" },
      { { "--nsr", "two" }, "--nsr: expected an integer, got 'two'" },
      { { "--nsr", "2.5" }, "--nsr: expected an integer, got '2.5'" },
      { { "--lr=fast" }, "--lr: expected a number, got 'fast'" },
      { { "--nsr" }, "--nsr: a value is missing (an integer)" },
      { { "--folds", "1,x" }, "--folds: expected an integer or several, with commas, got '1,x'" },
      { { "--device", "tpu" }, "--device: expected one of cpu, cuda, got 'tpu'" },
      { { "--smoke=maybe" }, "--smoke: expected true or false, got 'maybe'" },
      { { "--no-smoke=true" }, "--no-smoke takes no value" },
      { { "word" }, "unexpected argument 'word' (options begin with --; --help lists them)" },
    }
    for _, case in ipairs(cases) do
      local status, message = fails(case[1])
      test.equal(status, 2)
      test.equal(message, case[2])
    end
    test.equal({ fails({}, { data = { type = "string", required = true } }) }, { 2, "option '--data' is required (a text)" })
  end)
  it("takes what a flag says of other options, and refuses them beside it", function()
    local with_smoke = { epochs = 40, losses = { "ndcg", "ap" }, data = "movielens", lr = 0.1,
      smoke = { default = false, sets = { epochs = 2, losses = { "ap" } }, ignores = { "data" }, help = "to see that it runs" } }
    local args = read(with_smoke, { "--smoke", "--lr", "0.5" })
    test.equal({ args.epochs, args.losses, args.lr, args.data }, { 2, { "ap" }, 0.5, "movielens" })
    args = read(with_smoke, { "--no-smoke", "--losses", "rr", "--data", "here" })
    test.equal({ args.epochs, args.losses, args.data }, { 40, { "rr" }, "here" })
    local status, message = fails({ "--losses", "ndcg", "--smoke" }, with_smoke)
    test.check(status == 2 and message:find "%-%-losses.*%-%-smoke.*ap", message)
    status, message = fails({ "--smoke", "--epochs=2" }, with_smoke)
    test.check(status == 2 and message:find "%-%-epochs.*%-%-smoke.*2", message)
    test.equal({ fails({ "--smoke", "--data", "movielens" }, with_smoke) }, { 2, "--data: has no effect beside --smoke" })
    local _, help = fails({ "--help" }, with_smoke)
    test.check(help:find("to see that it runs (epochs is 2; losses is ap; not beside --data)", 1, true), help)
    test.raises(function() read({ smoke = { default = false, sets = { epoch = 2 } }, epochs = 3 }, {}) end, "'smoke'", "'epoch'")
    test.raises(function() read({ smoke = { default = 1, ignores = { "epochs" } }, epochs = 3 }, {}) end, "'smoke'", "flag")
  end)
  it("refuses numbers out of range, lists of nothing or with a choice twice, and files of another kind", function()
    local own = { fold = { default = 1, least = 1, most = 5 }, sizes = { default = { 25, 50 }, least = 2 },
      sets = { default = { "a" }, choices = { "a", "b" } }, seeds = { default = { 1, 2 }, distinct = true },
      out = { default = "x.svg", endings = { ".svg", ".png" } } }
    for _, case in ipairs{
      { { "--fold", "0" }, "--fold: expected an integer from 1 to 5, got '0'" },
      { { "--fold=6" }, "--fold: expected an integer from 1 to 5, got '6'" },
      { { "--sizes=3,1" }, "--sizes: expected an integer from 2 or several, with commas, got '3,1'" },
      { { "--sizes=" }, "--sizes: expected an integer from 2 or several, with commas, got ''" },
      { { "--sets=c" }, "--sets: expected one of a, b or several, with commas, got 'c'" },
      { { "--sets", "b,a,b" }, "--sets: expected each value once, got 'b,a,b'" },
      { { "--seeds", "3,3" }, "--seeds: expected each value once, got '3,3'" },
      { { "--out", "x.doc" }, "--out: expected a name that ends in one of .svg, .png, got 'x.doc'" },
      { { "--out", ".svg" }, "--out: expected a name that ends in one of .svg, .png, got '.svg'" },
    } do test.equal({ fails(case[1], own) }, { 2, case[2] }) end
    local args = read(own, { "--fold=5", "--sizes=2,2", "--sets=b,a", "--out", "folder/Y.PNG" })
    test.equal({ args.fold, args.sizes, args.sets, args.out }, { 5, { 2, 2 }, { "b", "a" }, "folder/Y.PNG" })
    local _, help = fails({ "--help" }, own)
    test.check(help:find("(from 1 to 5; default 1)", 1, true) and help:find("(of a, b; default a)", 1, true), help)
    test.equal({ fails({ "--lr", "nan" }) }, { 2, "--lr: expected a number, got 'nan'" })
  end)
  it("writes --help from the declaration and the script's first comment", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write("#!/usr/bin/env moonrank\n-- Does bounding help?\n-- Time: seconds.\n\n-- not this\nlocal x\n")
    file:close()
    local before = rawget(_G, "arg")
    rawset(_G, "arg", { [0] = path, "--help" })
    local ok, e = pcall(read, declared)
    rawset(_G, "arg", before)
    os.remove(path)
    test.check(not ok)
    test.equal(e.exit_status, 0)
    for _, part in ipairs { "usage: moonrank " .. path .. " [options]\n\nDoes bounding help?\nTime: seconds.\n\noptions:\n",
      "  --batch_size INTEGER  users per batch (default 32)\n", "  --bounds STRING,...   (default none,minmax)\n",
      "  --device STRING       (one of cpu, cuda; default cpu)\n", "  --no-cache\n" } do
      test.check(e.message:find(part, 1, true), "missing: " .. part .. "\nin: " .. e.message)
    end
    test.check(not e.message:find("not this", 1, true))
  end)
  it("refuses declarations whose parts do not go together", function()
    for said, declaration in pairs{
      ["mr.args{x = ...}: least is '1'"] = { default = 1, least = "1" },
      ["mr.args{x = ...}: help is 2"] = { default = 1, help = 2 },
      ["mr.args{x = ...}: type is 'int'"] = { type = "int" },
      ["option 'x' has a default of type string, expected integer"] = { type = "integer", default = "1" },
      ["option 'x' has least or most"] = { default = "a", most = 2 },
      ["option 'x' has endings, "] = { default = 1, endings = { ".svg" } },
      ["option 'x' has endings[1], which is a number"] = { default = "a", endings = { 1 } },
      ["option 'x' is a list of values of type list"] = { default = { { 1 } } },
      ["option 'x' sets 'y' to a value of type string, expected integer"] = { default = false, sets = { y = "1" } },
      ["option 'x' has sets or ignores"] = { default = 1, sets = { y = 1 } },
      ["option 'x' sets or ignores 'z'"] = { default = false, ignores = { "z" } },
    } do
      test.raises(function() read({ x = declaration, y = 2 }, {}) end, said)
    end
    test.equal(read({ x = { type = "number", default = 1 } }, {}).x, 1)
  end)
  it("refuses options that were not declared, in the script too", function()
    local args = read(declared, {})
    test.raises(function() return args.nrs end, "option 'nrs' was not declared, did you mean 'nsr'?")
    test.raises(function() read({ x = { defualt = 1 } }, {}) end, "mr.args{x = ...}", "'defualt'", "'default'")
    test.raises(function() read({ x = { help = "?" } }, {}) end, "option 'x' has neither a default nor a type")
    test.raises(function() read({ "x" }, {}) end, "declared by name")
  end)
end)
