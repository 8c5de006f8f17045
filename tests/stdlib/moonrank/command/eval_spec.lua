-- Tests the command `moonrank eval`: its numbers must equal those of trec_eval's code (tests/golden/trec.json) and of
-- mr.compare. It accepts metric names and options in the order in which users of trec_eval write them.
local check = require "moonrank.check"
local compare = require("moonrank.compare").compare
local data = require "moonrank.data"
local eval = require "moonrank.command.eval"
local json = dofile "tests/support/json.lua"
local program = dofile "tests/support/program.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local says = require "tests.support.says"
local describe, it = test.describe, test.it

local golden = json.read "tests/golden/trec.json"

local folder = files.new_folder()

local function write(name, text)
  local path = ("%s/%s"):format(folder, name)
  files.write(path, text)
  return path
end

local qrels = write("qrels.txt", golden.qrels)
local fine, coarse = write("fine.run", golden.runs.fine), write("coarse.run", golden.runs.coarse)

-- Returns the words of each line of a printed table.
local function cells(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    lines[#lines + 1] = {}
    for word in line:gmatch "%S+" do table.insert(lines[#lines], word) end
  end
  return lines
end

-- Checks the values in a file of --csv against trec_eval's; `measures` has the columns' names in trec_eval.
local function check_csv(path, level, measures)
  local count, first = 0, true
  for line in io.lines(path) do
    local run, query, values = line:match "^([^,]*),([^,]*),(.*)$"
    if not first then
      local m = 0
      for text in values:gmatch "[^,]+" do
        m = m + 1
        local expected = golden.values[run .. " " .. level][query][measures[m]]
        test.check(math.abs(tonumber(text) - expected) < 1e-12, ("%s: %s, expected %s"):format(line, text, expected))
        count = count + 1
      end
      test.equal(m, #measures)
    end
    first = false
  end
  return count
end

describe("moonrank eval", function()
  it("gives each query the values of trec_eval, under its names, with least grades 1 and 2", function()
    local csv, measures = write("values.csv", ""), { "map", "P_5", "P_10", "recip_rank", "ndcg_cut_10", "bpref" }
    local words = { "-m", "map", "-m", "P.5,10", "-m", "recip_rank", "ndcg_cut.10", qrels, fine, coarse, "-mbpref",
      "--csv", csv }
    eval.output(words)
    local count = check_csv(csv, 1, measures)
    test.check(count > 100, count)
    eval.output{ "-l", "2", "-m", "map", qrels, fine, "--csv", csv }
    test.check(check_csv(csv, 2, { "map" }) > 5)
  end)

  it("writes the values of --csv over no judgments, no run and no other file", function()
    local other = write("kept.csv", "qid,docid,score\nq,a,1\n")
    for _, path in ipairs{ qrels, fine, other } do
      local file <close> = assert(io.open(path))
      local before = file:read "a"
      test.raises(function() eval.output{ qrels, fine, "--csv", path } end, "--csv", path)
      file:seek "set"
      test.check(file:read "a" == before, path)
    end
  end)

  it("prints the means of trec_eval, and with -c over all judged queries", function()
    local sum, count = 0, 0
    for _, values in pairs(golden.values["coarse 1"]) do sum, count = sum + values.map, count + 1 end
    local judged = data.trec_qrels(qrels).count
    test.check(count < judged)
    local own = cells(eval.output{ qrels, coarse, "-m", "map" })[3]
    test.equal(own, { "coarse", ("%.4f"):format(sum / count), ("%d"):format(count) })
    local all = cells(eval.output{ "-c", qrels, coarse, "-m", "map" })[3]
    test.equal(all, { "coarse", ("%.4f"):format(sum / judged), ("%d"):format(judged) })
  end)

  it("prints trec_eval's lines with -q, also beside -c as -qc", function()
    local function lines(...)
      local found = {}
      for line in (eval.output{ qrels, coarse, "-m", "map", "P.5", ... } .. "\n"):gmatch "(.-)\n" do
        local metric, query, value = line:match "^(%S+) *\t(%S+)\t(%d+%.%d%d%d%d)$"
        test.check(metric, line)
        found[query] = found[query] or {}
        found[query][metric] = value
      end
      return found
    end
    local found, count = lines "-q", 0
    for query, values in pairs(golden.values["coarse 1"]) do
      count = count + 1
      test.equal(found[query], { map = ("%.4f"):format(values.map), P_5 = ("%.4f"):format(values.P_5) })
    end
    test.equal(#check.names(found), count + 1)
    local mean = cells(eval.output{ qrels, coarse, "-m", "map" })[3][2]
    test.equal(found.all.map, mean)
    test.equal(#check.names(lines "-qc"), data.trec_qrels(qrels).count + 1)
  end)

  it("names the run before the metric if there are several, and shows --compare's tables below", function()
    local first = cells(eval.output{ qrels, coarse, fine, "-q", "-m", "map" })
    test.equal({ first[1][1], first[1][2], #first[1] }, { "coarse", "map", 4 })
    test.equal({ first[#first][1], first[#first][3] }, { "fine", "all" })
    local text = eval.output{ qrels, coarse, fine, "-q", "-m", "map", "--compare" }
    says(text, "\tall\t", "p corrected")
  end)

  it("prints Markdown, and an object of JSON with queries and tests if asked for", function()
    says(eval.output{ qrels, fine, "-m", "map", "--markdown" }, "| run", "| fine")
    says(eval.output{ qrels, fine, coarse, "-m", "map", "--markdown", "--compare" }, "| ", "coarse")
    local run, judged = data.trec_run(fine), data.trec_qrels(qrels)
    local expected = run:evaluate(judged, { "ap" })
    local found = json.decode(eval.output{ qrels, fine, "-m", "map", "--json" })
    test.equal(found, { means = { { run = "fine", map = expected.mean.ap, queries = #expected.ids } } })
    found = json.decode(eval.output{ qrels, fine, coarse, "-m", "map", "--json", "-q", "--compare" })
    test.equal(found.queries[1], { run = "fine", query = expected.ids[1], map = expected.ap:totable()[1] })
    test.equal({ #found.tests, #found.means, found.tests[1].system }, { 1, 2, "fine" })
  end)

  it("says for how many queries a metric has no value", function()
    local judged = files.written "q 0 a 1\nq 0 b 0\nz 0 a 1\nz 0 b 1\n"
    local run = files.written "q Q0 a 1 2 t\nz Q0 a 1 2 t\n"
    local text = eval.output{ judged, run, "-m", "ap", "ap:minmax", "--empty", "zero" }
    says(text, "1 of 2 queries by ap:minmax")
    test.check(not eval.output{ judged, run, "-m", "ap" }:find("no value", 1, true))
  end)

  it("rescales metrics by bounds, and has ap, ndcg@10 and rr without -m", function()
    local run, judged = data.trec_run(fine), data.trec_qrels(qrels)
    local means = run:evaluate(judged, { { "ap", bound = "minmax" }, "nrbp(0.8)" }).mean
    local found = cells(eval.output{ qrels, fine, "-m", "ap:minmax", "nrbp(0.8)" })
    test.equal(found[1], { "run", "ap:minmax", "nrbp(0.8)", "queries" })
    test.equal(found[3][2], ("%.4f"):format(means["ap[minmax]"]))
    test.equal(found[3][3], ("%.4f"):format(means["nrbp(0.8)"]))
    test.equal(cells(eval.output{ qrels, fine })[1], { "run", "ap", "ndcg@10", "rr", "queries" })
  end)

  it("counts a metric with two names once, and takes the same words in any order", function()
    test.equal(cells(eval.output{ qrels, fine, "-m", "ap", "map" })[1], { "run", "ap", "queries" })
    test.equal(cells(eval.output{ qrels, fine, "-m", "map", "ap" })[1], { "run", "map", "queries" })
    test.equal(eval.output{ "-m", "map", qrels, "-q", fine }, eval.output{ "-q", qrels, fine, "-m", "map" })
    local gain = eval.output{ "--gain", "exp2", qrels, fine, "-m", "ndcg" }
    test.equal(gain, eval.output{ qrels, fine, "-m", "ndcg", "--gain=exp2" })
    test.check(gain ~= eval.output{ qrels, fine, "-m", "ndcg" })
  end)
end)

-- Two TREC runs of 12 queries. One of them is better on every query.
local judgments, good, bad = {}, {}, {}
for q = 1, 12 do
  for d = 1, 3 do
    judgments[#judgments + 1] = ("q%d 0 d%d %d\n"):format(q, d, d == 1 and 1 or 0)
    good[#good + 1] = ("q%d Q0 d%d 1 %d x\n"):format(q, d, 4 - d)
    bad[#bad + 1] = ("q%d,d%d,%d\n"):format(q, d, d)
  end
end
local judged = write("judged.txt", table.concat(judgments))
local better, worse = write("zebra.run", table.concat(good)), write("ant.csv", "qid,docid,score\n" .. table.concat(bad))

describe("moonrank eval --compare", function()
  local comparison = compare{ qrels = judged, metrics = { "ap", "rr" }, order = { "zebra", "ant" },
    systems = { zebra = better, ant = worse } }

  it("prints mr.compare's table with letters in the order of the runs, and its tests", function()
    local text = eval.output{ judged, better, worse, "--compare", "-m", "ap", "rr" }
    local shown, tests = tostring(comparison), comparison:tests()
    test.equal(text:sub(1, #shown), shown)
    test.check(shown:find("1.0000 b", 1, true), shown)
    says(text, ("%.4g"):format(tests.rows[1][6]), ("%.4g"):format(tests.rows[1][7]))
    local other = eval.output{ judged, worse, better, "--compare", "-m", "ap" }
    test.check(other:find("1.0000 a", 1, true), other)
  end)

  it("passes the level, the seed and the queries that count to the tests", function()
    local one = eval.output{ judged, better, worse, "--compare", "-m", "ap", "--alpha", "0.00001" }
    test.check(not one:find("1.0000 b", 1, true), one)
    local few = write("few.run", "q1 Q0 d1 1 1 x\nq2 Q0 d1 1 1 x\n")
    says(eval.output{ judged, better, few, "--compare" }, "2 lists", "10 of the 12")
    says(eval.output{ judged, better, few, "--compare", "-c" }, "12 lists")
  end)

  it("prints LaTeX with letters as superscripts and the best means in bold", function()
    local text = eval.output{ judged, better, worse, "--compare", "--latex", "-m", "ap" }
    says(text, "\\begin{tabular}", "\\textbf{1.0000}\\textsuperscript{b}", "\\bottomrule")
    local plain = eval.output{ judged, better, worse, "--latex", "-m", "ap" }
    test.check(plain:find("\\textbf{1.0000}", 1, true) and not plain:find("textsuperscript", 1, true), plain)
  end)
end)

describe("moonrank eval", function()
  local cases = {
    { {}, 2, { "judgments" } },
    { { qrels }, 2, { "run" } },
    { { "none.txt", fine }, 2, { "QRELS", "none.txt" } },
    { { qrels, "none.run" }, 2, { "RUN", "none.run" } },
    { { qrels, fine, "-m", "apx" }, 2, { "-m", "apx" } },
    { { "-m", "map", "none.txt", fine }, 2, { "none.txt", "file" } },
    { { qrels, fine, "-m", "ap:minmx" }, 2, { "minmx", "minmax" } },
    { { qrels, fine, "-m", "ap minmax" }, 2, { "-m ap minmax: 'ap minmax'", "' minmax'" } },
    { { qrels, fine, "-m", "ap:distribution" }, 2, { "bound", "'distribution'", "minmax" } },
    { { qrels, fine, "-m" }, 2, { "-m", "missing" } },
    { { qrels, fine, "--latx" }, 2, { "--latx", "--latex" } },
    { { qrels, fine, "-x" }, 2, { "-x" } },
    { { qrels, fine, "--compare" }, 2, { "--compare" } },
    { { qrels, fine, fine }, 2, { fine, "twice" } },
    { { qrels, fine, "--json", "--latex" }, 2, { "--json", "--latex" } },
    { { qrels, fine, "--json", "--markdown" }, 2, { "--json", "--markdown" } },
    { { "-", "-" }, 2, { "-", "twice" } },
    { { qrels, fine, "-q", "--latex" }, 2, { "--per-query", "--latex" } },
    { { qrels, fine, "--alpha", "x" }, 2, { "--alpha", "x" } },
    { { qrels, fine, "--alpha", "2" }, 2, { "--alpha", "2" } },
    { { fine, qrels }, 1, { "QRELS", "fine.run" } },
    { { qrels, fine, "-m", "ap", "--gain", "exp2" }, 1, { "gain", "ap" } },
  }
  it("refuses wrong words with status 2 and wrong files with 1, in one line that names them", function()
    for _, case in ipairs(cases) do
      local ok, problem = pcall(eval.output, case[1])
      test.check(not ok)
      test.equal(type(problem) == "userdata" and problem.exit_status or 1, case[2], tostring(problem))
      local text = type(problem) == "userdata" and problem.message or problem
      says(text, table.unpack(case[3]))
      test.check(not text:find "\n", text)
    end
  end)

  it("is a command of the program, whose --help lists the options", function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    if not select(2, program.run(program.moonrank .. " --help")):find("moonrank eval", 1, true) then
      return test.skip "the program is older than the command"
    end
    local ok, text = program.run(("%s eval %s %s -m map"):format(program.moonrank, qrels, fine))
    test.check(ok, text)
    test.equal(text, eval.output{ qrels, fine, "-m", "map" } .. "\n")
    local command = "cat %s | %s eval %s -m map"
    ok, text = program.run(command:format(fine, program.moonrank, qrels .. " -"))
    local mean = cells(eval.output{ qrels, fine, "-m", "map" })[3][2]
    test.equal({ cells(text)[3][1], cells(text)[3][2] }, { "stdin", mean })
    test.check(ok, text)
    ok, text = program.run(command:format(qrels, program.moonrank, "- " .. fine))
    test.equal(text, eval.output{ qrels, fine, "-m", "map" } .. "\n")
    test.check(ok, text)
    ok, text = program.run(("echo q Q0 a 1 x t | %s eval %s -"):format(program.moonrank, qrels))
    test.check(not ok)
    says(text, "standard input:1:")
    ok, text = program.run(("bash -c '%s eval <(cat %s) <(cat %s) -m map'"):format(program.moonrank, qrels, fine))
    test.check(ok, text)
    test.equal(cells(text)[3][2], mean)
    ok, text = program.run(("bash -c '%s eval %s <(echo q Q0 a 1 x t)'"):format(program.moonrank, qrels))
    test.check(not ok)
    says(text, "/dev/fd/", ":1:")
    local helped, help = program.run(program.moonrank .. " eval --help")
    test.check(helped)
    says(help, "usage: moonrank eval", "--compare", "--latex", "--csv")
    local failed, why = program.run(("%s eval %s %s"):format(program.moonrank, fine, qrels))
    test.check(not failed)
    test.equal(select(2, why:gsub("\n", "")), 1, why)
    says(why, "moonrank: eval: QRELS")
  end)
end)
