-- Tests the help on values and names, in scripts and by `moonrank doc`.
local files = require "tests.support.files"
local test = require "moonrank.test"
local mr = require "moonrank"
local help = require "moonrank.help"
local describe, it = test.describe, test.it

local function has(text, part) test.check(text:find(part, 1, true), "missing '" .. part .. "' in:\n" .. text) end

describe("help", function()
  it("finds a function by value and by the last parts of its name", function()
    local expected = help.of(mr.arange)
    has(expected, "mr.arange(first, last, options)")
    has(expected, "first, first + step, ... up to last")
    has(expected, "stdlib/moonrank/tensor.lua:")
    test.equal(help.text "arange", expected)
    test.equal(help.text "mr.arange", expected)
    test.equal(help.of "arange", expected)
  end)
  it("describes functions of the core", function()
    local sum = help.of(mr.tensor { 1 }.sum)
    has(sum, "mr.Tensor:sum(dim?)")
    has(sum, "dim?  integer")
    has(sum, "Returns\n  mr.Tensor")
    has(help.text "sum", "mr.Lists:sum(x)")
  end)
  it("describes a class by its name and by an instance", function()
    test.equal(help.of(mr.lists { { 1 } }), help.text "mr.Lists")
    has(help.text "Lists", ":softmax ")
  end)
  it("shows inherited methods of a class", function()
    local class, method = help.text "mr.Fold", help.text "fold:to_csv"
    for _, name in ipairs{ ":summary", ":to_csv", ":to_html", ":to_json", ":to_latex", ":to_markdown" } do
      has(class, name .. " ")
    end
    has(method, "mr.Fold:to_csv()")
    test.equal(help.text "mr.Fold:to_csv", method)
    test.equal(select(2, help.text("mr.Comparison"):gsub(":to_latex ", "")), 1)  -- its own
  end)
  it("lists the options of a function, also inherited ones", function()
    local lines = help.of(mr.plot.lines)
    for _, field in ipairs{ "series?", "low?", "y? ", "vlines?", "caption?" } do has(lines, "\n  " .. field) end
    has(help.of(mr.data.letor_folds), "\n  valid?")
  end)
  it("describes the module mr, also submodules that are not loaded", function()
    has(help.of(mr), "gradcheck ")
    test.equal(help.of(mr), help.text "mr")
  end)
  it("finds and prints pages of the manual", function()
    has(help.text "mr", "guide/first_steps")
    has(help.text "parquet", 'page "formats"')
    has(help.text "store schema", 'page "formats"')
    has(help.text "guide/sweeps", "# Sweeps")
    has(help.text "formats", "`wall` REAL")
  end)
  it("describes classes with their fields, bounds by name, and lists all in mr", function()
    local run = help.text "mr.Run"
    for _, field in ipairs{ "best?", "history ", "interrupted " } do has(run, "\n  " .. field) end
    test.equal(help.text "Run", run)
    local model = help.text "mr.Model"
    for _, member in ipairs{ "  kind ", "  config ", "  :save ", "  :parameters " } do has(model, "\n" .. member) end
    has(help.text "minmax", "(M - min) / (max - min)")
    local all = help.text "mr"
    for _, name in ipairs{ "mr.Run,", "mr.Model,", "minmax,", "zscore", "nrbp_loss," } do has(all, name) end
  end)
  it("describes each submodule of mr once", function()
    for _, part in ipairs{ "bounds", "data", "losses", "metrics", "models", "optim", "plot", "smooth", "stats" } do
      local text = help.text("mr." .. part)
      test.equal(select(2, text:gsub("%f[^\n%z]mr%." .. part .. "\n", "")), 1, part)
    end
  end)
  it("shows summaries up to the end of a sentence", function()
    for _, topic in ipairs{ "mr", "mr.bounds", "mr.data", "mr.losses", "mr.metrics", "mr.models", "mr.optim",
      "mr.plot", "mr.smooth", "mr.stats", "mr.Tensor", "mr.Lists" } do
      local rows = 0
      for line in help.text(topic):gmatch "[^\n]+" do
        if line:match "^  [.:]?[%w_]+%.?  +%S" then
          rows = rows + 1
          test.check(line:match "%.%)?$", topic .. ": " .. line)
        end
      end
      test.check(rows > 1, topic)
    end
    package.loaded["moonrank.help_spec_part"] = dofile(files.written(
      "local M = {}\n---Goes on\n---to the second line\n---\n---not this\nfunction M.one() end\nreturn M\n"))
    mr.help_spec_part = package.loaded["moonrank.help_spec_part"]
    has(help.text "help_spec_part", "  one  Goes on to the second line")
    mr.help_spec_part, package.loaded["moonrank.help_spec_part"] = nil, nil
  end)
  it("prints each function with the asked name once", function()
    for _, name in ipairs{ "conv2d", "sort", "mr.Tensor:linear", "reshape" } do
      local text, seen = help.text(name), {}
      for title in ("\n" .. text):gmatch "\n(mr[%.:%w]+%()" do
        test.check(not seen[title], name .. ": " .. title)
        seen[title] = true
      end
    end
  end)

  it("finds metrics with parameters and by alias, with their options", function()
    for _, name in ipairs{ "nrbp(0.95)", "nrbp(0.9)@10", "mr.metrics.nrbp(0.9)", "metrics.nrbp@3" } do
      local text = help.text(name)
      for _, part in ipairs{ "mr.metrics.nrbp(scores, lists, options)", "\n  p? ", "\n  k? ", 'metric "nrbp"' } do
        has(text, part)
      end
      test.check(not text:find("mr.losses.nrbp(", 1, true), name)
    end
    local base = { ["ndcg@10"] = "ndcg", map = "ap", ["mrr@5"] = "rr", P_10 = "precision", recip_rank = "rr",
      Rprec = "r_precision" }
    for name, own in pairs(base) do
      has(help.text(name), ("mr.metrics.%s(scores, lists, options)"):format(own))
      has(help.text(name), ('metric "%s"'):format(own))
    end
  end)
  it("finds names as scripts write them: calls, fields of values, options", function()
    for name, part in pairs{
      ["fold.train"] = "mr.Fold.train\n",
      ["mr.Run.test"] = "mr.Run.test\n\nmetrics on test",
      ["run.test.mean"] = "mr.Evaluation.mean\n",
      ["Fold:evaluate"] = "mr.Fold:evaluate(",
      ["fold:evaluate(model, {'ndcg'})"] = "mr.Fold:evaluate(",
      ["ratings:folds{k = 5}[1].test.lists"] = "mr.Dataset.lists\n",
      ["run.history[1]"] = "mr.Run.history\n",
      ["batch.row_users"] = "mr.Batch.row_users\n",
      ["x.grad"] = "mr.Tensor.grad\n",
      ["lists:relevant"] = "mr.Lists.relevant\n",
      ["my.thing:softmax"] = false,
      ['mr.losses.ndcg{bound = "minmax"}'] = "mr.losses.ndcg(options)",
      ["mr.fit{"] = "mr.fit(options)",
      ["fit.patience"] = "mr.fit.patience\n\nstop after",
      ["adam.lr"] = "mr.optim.adam.lr\n",
      trial = "mr.Trial\n",
      fold = "mr.Fold\n",
      ["mr.relu"] = "mr.Tensor:relu",
      ["?ndcg()"] = "mr.metrics.ndcg(",
    } do
      local found, text = pcall(help.text, name)
      if part then has(text, part) else test.check(not found, name) end
    end
    test.equal(help.text("mr.Run.test"):match "(mr.Evaluation %b())\n?$", "mr.Evaluation (moonrank doc mr.Evaluation)")
    -- every documented field of these classes has a help text of its own
    local docs = require "moonrank.help.docs"
    for _, class in ipairs{ "mr.Fold", "mr.Ratings", "mr.Evaluation", "mr.Comparison" } do
      for _, field in ipairs(docs.fields(class)) do
        has(help.text(class .. "." .. field.name), class .. "." .. field.name)
      end
    end
    for _, text in ipairs{ "((", "[", "%", ".", ":", "mr.", "fold.", "=", "{}", "" } do pcall(help.text, text) end
    for _, blank in ipairs{ "", " ", "\n" } do
      test.raises(function() help.text(blank) end, "empty", "name", "help()")
    end
    test.raises(function() help.text "mr.losses.ndgc{}" end, "'mr.losses.ndgc'", "'mr.losses.ndcg'")
  end)
  it("searches names, options and prose if no name matches, and shows the best match first", function()
    local function first(topic) return help.text(topic):match "\n\n  ([%w_.:]+)" end
    test.equal(first "patience", "mr.fit")                -- the help finds an option with its description
    has(help.text "patience", "  patience: stop after")
    test.equal(first "time-biased", "metric")
    test.equal(first "users power-law popularity", "mr.data.synthetic")
    has(help.text "chosen_on epoch", "mr.Run")
    has(help.text "shortest zzzz gradcheck", "gradcheck") -- if no entry has all words, those with one of them are found
  end)
  it("searches stems, synonyms and names that other libraries use", function()
    has(help.text "dataframes", "mr.table")
    has(help.text "shuffles minibatches", "mr.Dataset:batches")
    has(help.text "train_test_split", "mr.Dataset:split")
    has(help.text "clip_grad_norm_", "mr.clip_gradients")
    has(help.text "roc_auc_score", "auc")
    has(help.text "loss.backward()", "mr.Tensor:backward")
    has(help.text "scores.item()", "mr.Tensor:item")
    test.check(not help.text("parameters of trials"):find("mr.sweep.Sampler", 1, true),
      "a class that stays within the library is shown")
  end)
  it("finds metrics with a cutoff, words with hyphens, code, operators, and names of several words", function()
    for topic, name in pairs{ ["MAP@10"] = "mr.metrics.ap", ["precision@7"] = "mr.metrics.precision",
      ["learning-rate"] = "Learning rate", ["k-fold"] = "mr.Ratings:folds", overfit = "patience",
      ["rows:sum()"] = "mr.Lists:sum", ["y:backward()"] = "mr.Tensor:backward", ["~="] = '"guide/lua"',
      ["!="] = '"guide/lua"', ["mean reciprocal rank"] = "mr.metrics.rr", ["leave-one-out"] = "mr.Ratings:folds",
      transformer = "attention", ["ndcg@k"] = "mr.metrics.ndcg", ["hit rate"] = "mr.metrics.hit",
      ["gradient boosting"] = "mr.models.trees",
      ["normalized discounted cumulative gain"] = "mr.metrics.ndcg" } do
      has(help.text(topic), name)
    end
    for topic, name in pairs{ MAP = "ap", MRR = "rr", Map = "ap", ["MRR@10"] = "rr", HR = "hit" } do
      local text = help.text(topic)
      test.equal(text:match "^[%w_.]+", "mr.metrics." .. name)
      has(text, ('metric "%s"'):format(name))
    end
    local text = help.text "mean reciprocal rank"
    test.check(text:find("mr.metrics.rr", 1, true) < (text:find("mr.metrics.err", 1, true) or #text), text)
    local began = os.clock()
    pcall(help.text, ("metric loss list fold bound "):rep(400))
    test.check(os.clock() - began < 2, "a search of 2000 words is slow")
  end)
  it("finds options and pages by words of several names and by other words", function()
    local function first(topic) return help.text(topic):match "\n\n  ([%w_.:]+)" end
    for _, topic in ipairs{ "batch size", "Batch Size", "batch_size", "batchsize", "minibatch" } do
      local text = help.text(topic)
      test.check((text:find("  batch: lists", 1, true) or #text) < 300, text)  -- among the first hits
    end
    has(help.text "resume", "mr.sweep ")
    has(help.text "resume", '"guide/sweeps"')
    for _, topic in ipairs{ "ctrl-c", "Ctrl+C" } do
      has(help.text(topic), "mr.sweep ")
      has(help.text(topic), '"guide/sweeps"')
      has(help.text(topic), '"guide/training"')
    end
    for _, topic in ipairs{ "jupyter", "notebook", "notebooks", "C interface" } do
      test.equal(first(topic), "page", topic)
      has(help.text(topic), '"guide/install"')
    end
    has(help.text "mq2008", "mr.data.letor_folds")
    has(help.text "mq2008", '"guide/data_and_protocols"')
  end)
  it("finds tables of options by the last part of their name", function()
    for _, topic in ipairs{ "tpe", "TpeOptions", "mr.sweep.TpeOptions" } do has(help.text(topic), "candidates?") end
  end)
  it("documents no class that only the library uses, and suggests none", function()
    for _, name in ipairs{ "mr.fit.Plan", "mr.sweep.Pool.Options", "mr.sweep.Schedule.Options", "mr.Booster",
      "mr.data.InteractionDraws" } do
      local ok, message = pcall(help.text, name)
      test.check(not ok and select(2, message:gsub(name, "")) == 1, name .. ": " .. tostring(message))
    end
    for _, name in ipairs{ "mr.stats.Estimate", "mr.Fold", "mr.plot.Lines" } do has(help.text(name), name) end
  end)
  it("shows the documentation of a user's own function", function()
    local own = dofile(files.written("local M = {}\n---Adds one.\n---@param x number  what to\n" ..
      "function M.one(x) return x + 1 end\nreturn M\n"))
    has(help.of(own.one), "Adds one.")
    has(help.of(own.one), ":4")
  end)
  it("says that there is no documentation, and suggests the nearest name", function()
    has(help.of(print), "no documentation")
    has(help.of(function() end), "help_spec.lua:")
    test.raises(function() help.text "arnage" end, "'arnage'", "'arange'")
    test.equal(help.of(3), "3: a number")
  end)

  it("stops at Ctrl-C at any moment", function()
    help.text "rank"
    local fired = 0
    for n = 1, 300 do
      debug.sethook(function()
        fired = fired + 1
        debug.sethook()
        error("interrupted", 0)
      end, "", 30 + 20 * n)
      local ok, message = pcall(help.text, "rank")
      debug.sethook()
      test.check(not ok and message == "interrupted", n)
    end
    test.equal(fired, 300)
  end)
end)
