-- The command `moonrank eval`: measures TREC runs against judgments, and compares them by significance tests.
local core = require "moonrank.core"
local check = require "moonrank.check"
local compare = require "moonrank.compare"
local data = require "moonrank.data"
local evaluate = require "moonrank.evaluate"
local find = require "moonrank.data.find"
local registry = require "moonrank.metrics.registry"
local retrieved = require "moonrank.data.retrieved"
local shortest = require("moonrank.system.digits").shortest
local tables = require "moonrank.table"
local words_of = require "moonrank.command.words"

local M = {}

local about = [[
usage: moonrank eval QRELS RUN... [-m METRIC...] [options]

Prints the mean of each metric over the queries of each run, with the conventions of trec_eval. QRELS is a file of TREC
judgments. A RUN is a TREC run, or a .csv table with the columns qid, docid and score. Files may be compressed (.gz).
One of them may be -, which reads standard input. Pipes of the shell work, too: <(zcat FILE).

-m METRIC... names metrics, and may be repeated: ndcg@10, ap, rr, nrbp(0.8), or names of trec_eval, such as map,
ndcg_cut.5,10 and P_5. A bound after a colon rescales the metric of each query: ap:minmax, ap:expectation,
ap:expectation_max. Without -m, the metrics are ap, ndcg@10 and rr. `moonrank doc metrics` lists all.

With -q, the lines are those of trec_eval: metric, query and value with tabs between them, and the means as query "all".
With several runs, the run's name comes before the metric.

With --compare, letters beside a mean name the runs that are significantly worse: paired permutation tests over the
queries that all runs have, with Holm's correction for the number of pairs.]]

local usual <const> = { "ap", "ndcg@10", "rr" }
local csv_start <const> = "run,query,"
local conventions <const> = { "relevant", "gain", "ties", "empty" }

local declarations = {
  per_query = { default = false, help = "-q: print the values of each query, in trec_eval's lines" },
  complete = { default = false, help = "-c: judged queries that a run lacks count 0" },
  compare = { default = false, help = "test the differences between runs" },
  latex = { default = false, ignores = { "per_query", "markdown", "json" }, help = "print the table in LaTeX" },
  markdown = { default = false, ignores = { "per_query", "json" }, help = "print the table in Markdown" },
  json = { default = false, help = "print an object with means, and queries (-q) and tests (--compare) if asked for" },
  csv = { default = "", path = "output file", help = "file for the values of each query" },
  relevant = { type = "number", shown = "1", help = "-l: smallest grade of a relevant document" },
  alpha = { default = 0.05, least = 0, most = 1, help = "significance level of the tests of --compare" },
  seed = { default = 1, help = "seed of the tests and intervals of --compare" },
}
for name, shown in pairs{ gain = "linear", ties = "trec", empty = "zero" } do
  local row = registry.convention(name, shown)
  declarations[name] = { type = "string", choices = row.choices, shown = shown, help = row.help }
end

local short = { ["-q"] = "--per-query", ["-c"] = "--complete", ["-l"] = "--relevant", ["--metrics"] = "-m" }

-- Splits combined words of the command line: "-qc" becomes "-q" and "-c", and "-mmap" becomes "-m" and "map".
local function apart(words)
  local out = {}
  for _, word in ipairs(words) do
    local metric = word:match "^%-m(.+)$" or word:match "^%-%-metrics=(.+)$"
    if metric then
      table.move({ "-m", metric }, 1, 2, #out + 1, out)
    elseif word:match "^%-[qc][qc]+$" then
      for letter in word:sub(2):gmatch "." do out[#out + 1] = short["-" .. letter] end
    else
      out[#out + 1] = short[word] or word
    end
  end
  return out
end

-- Returns the metrics' names in a word after -m: P_5 and P_10 for "P.5,10" of trec_eval, else the word itself.
local function names_in(word)
  if word:find("^[%w_@]+,%a") then
    words_of.refuse("eval: -m %s has a comma, expected blanks between metrics: -m ap rr", core.safe_text(word))
  end
  local names, base, cutoffs = {}, word:match "^(%a[%w_]*)%.([%d,]+)$"
  for cutoff in (cutoffs or ""):gmatch "%d+" do names[#names + 1] = ("%s_%s"):format(base, cutoff) end
  return #names > 0 and names or { word }
end

-- Returns the metric for a name such as "ap:minmax" (a metric and a bound), or nil and the reason why there is none.
local function metric_of(name, given)
  local ok, metric = pcall(retrieved.metric, name, given)
  if ok then return metric end
  return nil, (check.reason(metric):gsub("^bad argument 'metric' to 'parse' %((.*)%)$", "%1"))
end

-- Returns the metrics after -m under the names that the user wrote; a metric with two names is returned once.
local function metrics_of(words, given)
  local metrics, seen = {}, {}
  for i, word in ipairs(words) do
    for _, name in ipairs(names_in(word)) do
      local metric, why = metric_of(name, given)
      if not metric then
        words_of.refuse("eval: -m %s: %s%s", core.safe_text(name), core.safe_text(why),
          i > 1 and ". There is no file of this name, either" or "")
      end
      local key = retrieved.own_name(metric.name)
      if not seen[key] then metrics[#metrics + 1], seen[key] = evaluate.named(metric, name), true end
    end
  end
  return metrics
end

-- Returns true for "-" (standard input), and for the names that a shell gives to pipes, as in `eval <(zcat qrels) run`.
local function is_stream(path) return path == "-" or path:find "^/dev/fd/%d+$" ~= nil end

-- Returns read(path). If `path` is a stream, `read` gets the path of a temporary file to which the stream was copied,
-- and which is removed afterwards.
local function read_from(path, read)
  if not is_stream(path) then return read(path) end
  local stream <const> = path == "-" and io.stdin or assert(io.open(path, "rb"))
  local copy = os.tmpname()
  local _ <close> = setmetatable({}, { __close = function() os.remove(copy) end })
  local parts = {}
  for piece in function() return stream:read(2 ^ 16 | 0) end do
    parts[#parts + 1] = piece
    core.check_interrupt()
  end
  core.check_interrupt()
  core.write_file(copy, table.concat(parts))
  local found = table.pack(pcall(read, copy))
  if found[1] then return table.unpack(found, 2, found.n) end
  local shown = path == "-" and "standard input" or path
  error(type(found[2]) == "string" and found[2]:gsub(copy:gsub("%W", "%%%0"), shown) or found[2], 0)
end

-- Returns the name of a run: the name of its file, without the folder, the extension and .gz; "stdin" for standard
-- input.
local function short_name(path)
  if path == "-" then return "stdin" end
  local name = path:match "[^/]*$":gsub("%.gz$", "")
  return name:match "^(.+)%.%w+$" or name
end

-- Returns the runs with their names. Runs in different folders whose files have equal names are named by their paths.
local function read_runs(paths)
  local count, runs = {}, {}
  for _, path in ipairs(paths) do count[short_name(path)] = (count[short_name(path)] or 0) + 1 end
  for i, path in ipairs(paths) do
    local name = count[short_name(path)] == 1 and short_name(path) or path
    for _, other in ipairs(runs) do
      if other.name == name then words_of.refuse("eval: the run %s is given twice. Remove one", path) end
    end
    runs[i] = { name = name, scores = read_from(path, compare.read) }
  end
  return runs
end

-- Adds notes on metrics that have no value for some queries of a run, which then do not count in the mean.
local function note_skipped(notes, run, found, metrics)
  local names = {}
  for _, metric in ipairs(metrics) do
    local count = found.skipped[metric.name]
    names[count] = names[count] and names[count] .. ", " .. metric.name or metric.name
  end
  names[0] = nil
  for _, count in ipairs(check.names(names)) do
    notes[#notes + 1] = ("'%s': no value for %d of %d queries by %s"):format(run.name, count, #found.ids, names[count])
  end
end

-- Evaluates each run independently of the other runs. Returns the table of mean metrics, and stores in each run its
-- query ids and a function that returns a metric's value for each query.
local function measured(runs, judgments, metrics, o)
  local columns, formats, rows, notes = { "run" }, {}, {}, {}
  for i, metric in ipairs(metrics) do columns[i + 1], formats[metric.name] = metric.name, "%.4f" end
  for r, run in ipairs(runs) do
    local found = run.scores:evaluate(judgments, metrics, o)
    run.queries, rows[r] = found.ids, { run.name }
    function run.values(metric) return core.numbers(evaluate.exact(found, metric.name):to("cpu")) end
    function run.mean(metric) return found.mean[metric.name] end
    for _, metric in ipairs(metrics) do table.insert(rows[r], found.mean[metric.name]) end
    table.insert(rows[r], #found.ids)
    if found.coverage then notes[#notes + 1] = ("'%s' %s"):format(run.name, found.coverage:gsub("^the run ", "")) end
    note_skipped(notes, run, found, metrics)
    if r == 1 then table.insert(notes, 1, evaluate.notes({ coverage = false }, metrics)[1]) end
  end
  columns[#columns + 1] = "queries"
  return tables.new{ columns = columns, rows = rows, formats = formats, notes = notes }
end

-- Compares the runs by significance tests. Returns the table of mean metrics, with letters for significant differences,
-- and the table of the tests. Stores in each run the ids of the compared queries and their values.
local function compared(runs, judgments, metrics, o, args)
  local options = { qrels = judgments, metrics = metrics, systems = {}, order = {}, alpha = args.alpha,
    seed = args.seed, missing = o.missing }
  for _, name in ipairs(conventions) do options[name] = o[name] end
  for i, run in ipairs(runs) do options.order[i], options.systems[run.name] = run.name, run.scores end
  local comparison = compare.compare(options)
  for _, run in ipairs(runs) do
    run.queries = comparison.queries
    function run.values(metric) return core.numbers(comparison.values[metric.name][run.name]:to("cpu")) end
    function run.mean(metric) return comparison.cells[metric.name][run.name].mean end
  end
  local tests = comparison:tests()
  tests.notes = {}
  return comparison, tests
end

-- Returns a row for each run and query, with the value of each metric, or with `exact` its text with all digits.
local function per_query(runs, metrics, exact)
  local columns, formats, rows = { "run", "query" }, {}, {}
  for i, metric in ipairs(metrics) do columns[i + 2], formats[metric.name] = metric.name, "%.4f" end
  for _, run in ipairs(runs) do
    local first = #rows
    for i, query in ipairs(run.queries) do rows[first + i] = { run.name, query } end
    for m, metric in ipairs(metrics) do
      for i, value in ipairs(run.values(metric)) do rows[first + i][m + 2] = exact and shortest(value) or value end
    end
  end
  return tables.new{ columns = columns, rows = rows, formats = formats }
end

-- Returns trec_eval's lines of -q: run (if there are several), metric, query and value; means have the query "all".
local function trec_eval_lines(runs, metrics)
  local lines = {}
  local function add(run, metric, query, value)
    local start = #runs > 1 and core.safe_text(run.name) .. "\t" or ""
    lines[#lines + 1] = ("%s%-22s\t%s\t%.4f"):format(start, metric.name, core.safe_text(query), value)
  end
  for _, run in ipairs(runs) do
    local values = {}
    for m, metric in ipairs(metrics) do values[m] = run.values(metric) end
    for i, query in ipairs(run.queries) do
      for m, metric in ipairs(metrics) do add(run, metric, query, values[m][i]) end
    end
    for _, metric in ipairs(metrics) do add(run, metric, "all", run.mean(metric)) end
  end
  return table.concat(lines, "\n")
end

-- Raises an error unless the command has a file of judgments and one or more runs, and these files exist.
local function check_names(names, args)
  if #names < 2 then
    words_of.refuse("eval: %s is missing. Write: moonrank eval QRELS RUN... -m ndcg@10",
      #names == 0 and "the file of judgments" or "the file of a run")
  end
  local count = 0
  for i, name in ipairs(names) do
    local found, why = pcall(find.path, name)
    if name == "-" then
      count = count + 1
      if count > 1 then words_of.refuse("eval: - is given twice, but standard input can be read once") end
    elseif not found and not is_stream(name) then
      words_of.refuse("eval: %s: %s", i == 1 and "QRELS" or "RUN", core.safe_text(why))
    end
  end
  if args.compare and #names < 3 then words_of.refuse("eval: --compare needs two runs or more, found 1") end
end

-- Raises an error if the file that the option --csv names exists and is not a table that `moonrank eval` wrote. It may
-- be a file of judgments or a run, which must not be overwritten.
local function check_csv(path)
  local file <close> = path ~= "" and io.open(path, "rb") or nil
  local start = file and file:read(#csv_start)
  if start and start ~= csv_start then
    words_of.refuse("eval: --csv %s: the file exists, and is not a table of `moonrank eval`. Give a new name",
      core.safe_text(path))
  end
end

-- Reads the file of judgments. An error about its format says that this file comes before the runs.
local function read_judgments(path)
  local ok, judgments = pcall(read_from, path, data.trec_qrels)
  if ok or judgments == "interrupted" then return ok and judgments or error(judgments, 0) end
  error(("QRELS: %s. The file of judgments comes before the runs"):format(judgments:gsub("^read_[%a_]+: ", "")), 0)
end

-- Parses the words of the command line. Returns the paths of files, the metrics that follow -m, and the other options.
-- The word after -m is a metric, and so are the words after it up to an option or the name of a file.
local function read_words(words)
  local wanted, rest, follows = {}, {}, false
  for i, word in ipairs(words) do
    if word == "-m" then
      if not words[i + 1] then words_of.refuse "eval: -m: a value is missing (--help lists all options)" end
      follows = "first"
    elseif follows == "first" or follows and word:sub(1, 1) ~= "-" and not core.file_exists(word) then
      wanted[#wanted + 1], follows = word, "later"
    else
      rest[#rest + 1], follows = word, false
    end
  end
  local names, args = words_of.read(rest, declarations)
  return names, #wanted > 0 and wanted or usual, args
end

-- Returns the text that the command prints: an aligned table, or the format that an option names.
local function printed(runs, metrics, args, shown, tests)
  if args.latex then return (shown:to_latex{ best = #runs > 1 }:gsub("\n$", "")) end
  if args.markdown then return (shown:to_markdown():gsub("\n$", "")) end
  if args.json then
    local fields = { '"means":' .. shown:to_json() }
    if args.per_query then table.insert(fields, '"queries":' .. per_query(runs, metrics):to_json()) end
    if tests then table.insert(fields, '"tests":' .. tests:to_json()) end
    return "{" .. table.concat(fields, ",\n") .. "}"
  end
  local parts = {}
  if args.per_query then parts[1] = trec_eval_lines(runs, metrics) end
  if tests or not args.per_query then parts[#parts + 1] = tostring(shown) end
  parts[#parts + 1] = tests and tostring(tests)
  return table.concat(parts, "\n\n")
end

---Runs the command with the words after its name, and returns what it prints. Writes the file of
---`--csv`.
---@return string
---Example:
---```lua
---local function write(text)
---  local path = os.tmpname()
---  io.open(path, "w"):write(text):close()
---  return path
---end
---local qrels, run = write "q 0 a 0\nq 0 b 1\n", write "q Q0 a 1 2.0 x\nq Q0 b 2 1.0 x\n"
---require("moonrank.command.eval").output{qrels, run, "-m", "rr"}:match "0%.%d+"   --> 0.5000
---```
function M.output(words)
  for _, word in ipairs(words) do
    if word == "--help" or word == "-h" then return words_of.help(about, declarations) end
  end
  local names, wanted, args = read_words(apart(words))
  local o = { missing = args.complete and "zero" or "skip" }
  for _, name in ipairs(conventions) do o[name] = args[name] end
  local metrics = metrics_of(wanted, o)
  check_names(names, args)
  check_csv(args.csv)
  local judgments, runs = read_judgments(table.remove(names, 1)), read_runs(names)
  local shown, tests
  if args.compare then
    shown, tests = compared(runs, judgments, metrics, o, args)
  else
    shown = measured(runs, judgments, metrics, o)
  end
  if args.csv ~= "" then
    core.make_folder(args.csv)
    core.write_file(args.csv, per_query(runs, metrics, true):to_csv())
  end
  return printed(runs, metrics, args, shown, tests)
end

---Runs `moonrank eval` with the words after `eval` on the command line, and prints its result.
function M.run(words) print(M.output(words)) end

return M
