-- Tests of the benchmark scripts: peers (other libraries) that fail, invalid options, data larger than the memory, and
-- comparisons of two programs.
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it = test.describe, test.it
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local program = dofile(here .. "../support/program.lua")
local folder = os.tmpname() .. "_bench"

local function shell(text) assert(os.execute(text)) end

shell(("mkdir -p '%s'"):format(folder))

-- Runs a benchmark script: `command` is its name and options, such as "start.lua --quick", and `before` is shell code
-- in front of it, such as variables.
local function run(command, before)
  return program.run(("%s '%s' '%s'%s"):format(before or "", program.moonrank, here, command))
end

-- Runs a benchmark script with the test's own python3 first in PATH.
local function run_by_python(command) return run(command, ("PATH='%s':$PATH"):format(folder)) end

local function with_python(body)
  shell(("printf '%%s\\n' '#!/bin/sh' '%s' >'%s/python3' && chmod +x '%s/python3'"):format(body, folder, folder))
  return run_by_python(("metrics.lua --lists 3 --rows 4 --repeats 1 --threads 1 --csv '%s/bench.csv'"):format(folder))
end

describe("bench.ratio_text", function()
  it("has two significant digits, and shows that a ratio is below 1", function()
    local bench = dofile(here .. "bench.lua")
    local said = {}
    for i, ratio in ipairs{ 0.9953, 0.9996, 0.186, 0.0412, 1, 1.04, 8.44, 12.3, 961.2 } do
      said[i] = bench.ratio_text(ratio)
    end
    test.equal(said, { "0.995", "0.9996", "0.19", "0.041", "1.0", "1.0", "8.4", "12", "961" })
  end)
end)

describe("benchmark scripts:", function()
  it("metrics.lua and ratios.lua say in their tables why a peer failed", function()
    local well, text = with_python 'echo "Traceback" >&2; echo "ValueError: no such metric" >&2; exit 1'
    test.check(well, text)
    test.check(text:find "ranx +1 +failed: ValueError: no such metric", text)
    local found, ratios = run(("ratios.lua '%s/bench.csv'"):format(folder))
    test.check(found and ratios:find("| ranx | 1 | failed: ValueError: no such metric |", 1, true), ratios)
    test.check(ratios:find "^Measured: %d+%-%d+%-%d+, ", ratios)
  end)
  it("losses.lua ends with the least and the largest ratio of each peer's time to ours", function()
    local measure = "losses.lua --losses mse,bce --rows 4 --total 8 --threads 1 --repeats 1"
    local well, text = run_by_python(measure)
    test.check(well and not text:find "times ours over", text)  -- python3 fails here, so no peer has a time
    shell(("printf '%%s\\n' '#!/bin/sh' 'printf \"PyTorch\\\\t1000\\\\n\"' >'%s/python3'"):format(folder))
    well, text = run_by_python(measure)
    test.check(well and text:find "PyTorch, threads 1: [%d.e+]+ to [%d.e+]+ times ours over 2 losses, faster at none",
      text)
  end)
  it("each script names a wrong option before it measures", function()
    for _, command in ipairs{ "catalogue.lua --optimizers nope", "kernels.lua --shapes nope",
      "losses.lua --losses nope", "losses.lua --forms nope", "epochs.lua --losses nope", "epochs.lua --sets nope",
      "scale.lua --parts nope", "native.lua --jobs nope", "instructions.lua --program /nonexistent" } do
      local well, text = run(command)
      test.check(not well and (text:find "nope" or text:find "/nonexistent"), command .. ": " .. text)
    end
  end)
  it("each script refuses invalid counts and tables that cannot be written, before it measures", function()
    for command, word in pairs{ ["metrics.lua --repeats 0"] = "--repeats.*0",
      ["metrics.lua --lists -3"] = "--lists.*-3",
      ["native.lua --turns 1.5"] = "--turns.*1.5",
      ["scale.lua --times 0"] = "--times.*0",
      ["scale.lua --times 1e999"] = "--times.*1e999",
      ["kernels.lua --rows 32,0"] = "--rows.*0", ["catalogue.lua --warm -1"] = "--warm.*-1",
      ["native.lua --seconds 0"] = "--seconds.*0",
      ["native.lua --quick --full"] = "--quick.*--full", ["steps.lua --items 1000"] = "--items.*1000.*2048",
      ["native.lua --csv /nonexistent/x.csv"] = "--csv.*/nonexistent/x.csv",
      ["metrics.lua --csv /nonexistent/x.csv"] = "--csv.*/nonexistent/x.csv",
      ["start.lua --csv /"] = "--csv.*/" } do
      local well, text = run(command)
      test.check(not well and text:find((word:gsub("^%-%-", "%%-%%-"))), command .. ": " .. text)
    end
  end)
  it("a wrong MOONRANK_CLOCK is an error", function()
    local well, text = run("start.lua", "MOONRANK_CLOCK=CPU")
    test.check(not well and text:find "MOONRANK_CLOCK.*'CPU'", text)
  end)
  it("distributions.lua requires MOONRANK_SAMPLES_GIB=0 and keeps no samples", function()
    local function measured(variables, options)
      return run("distributions.lua " .. options,
        ("env %s XDG_CACHE_HOME='%s/cache' MOONRANK_PEERS=none"):format(variables, folder))
    end
    for _, variables in ipairs{ "-u MOONRANK_SAMPLES_GIB", "MOONRANK_SAMPLES_GIB=8" } do
      local well, text = measured(variables, "")
      test.check(not well and text:find("expected MOONRANK_SAMPLES_GIB=0", 1, true) and not text:find "Milliseconds",
        text)
    end
    local well, text = measured("MOONRANK_SAMPLES_GIB=0", "--repeats 1 --samples 100")
    test.check(well and text:find "moonrank, 100 samples", text)
    test.check(not io.open(folder .. "/cache/moonrank/samples"), "samples were kept")
  end)
  it("bench.where names the numerics version, also if the program has none", function()
    local path = folder .. "/old.lua"
    local file = assert(io.open(path, "w"))
    file:write(([[
require "moonrank"
require "moonrank.core".numerics = nil
arg[0] = "%sx.lua"
print(dofile "%sbench.lua".where())
]]):format(here, here))
    file:close()
    local well, text = program.run(("'%s' '%s'"):format(program.moonrank, path))
    test.check(well and text:find "numerics without a name\n", text)
  end)
  it("scale.lua prints each step with its memory, and the size of its data", function()
    local well, text = run "scale.lua --times 0.001 --epochs 1 --threads 1"
    test.check(well, text)
    for _, words in ipairs{ "ratings are drawn", "ratings are split", "queries are drawn",
      "epoch of %d+ rows in %d+ lists" } do
      test.check(text:find(words .. " +moonrank +1 .-GB at most"), words .. ": " .. text)
    end
    test.check(text:find "201 users, 87585 items, about 0.03196 million ratings; expected: 0.1 GB of memory at most %(",
      text)
  end)
  it("scale.lua leaves out data larger than the memory, and says how much they would need", function()
    local well, text = run "scale.lua --times 1e5"
    test.check(well and text:find "3153100000 queries, .- left out: about 4.31e%+05 GB expected, %S+ GB free", text)
    test.check(text:find "20094800000 users, .- left out: " and not text:find "are drawn", text)
  end)
  it("two_programs.lua prints the times of two programs side by side", function()
    local function measured(options)
      return run(("two_programs.lua --quick --out '%s/two' %s"):format(folder, options))
    end
    local well, text =
      measured(("--parts start,network --before '%s' --before_tree '%s../..'"):format(program.moonrank, here))
    test.check(well and not text:find "failed", text)
    local epoch = "epoch of one list of 5000 rows, a network"
    for _, words in ipairs{ "start", epoch, epoch .. ", processor time" } do
      test.check(text:find("\n| " .. words .. " | moonrank | 1 | %d%S* %(.-%) | %d%S* %(.-%) | %d"),
        words .. ": " .. text)
    end
    well, text = measured(("--parts start --before /nonexistent/moonrank --before_tree '%s../..'"):format(here))
    test.check(not well and text:find("/nonexistent/moonrank", 1, true), text)
    well, text = measured(("--rounds 0 --before '%s' --before_tree '%s../..'"):format(program.moonrank, here))
    test.check(not well and text:find "%-%-rounds.*0", text)
    well, text = measured(("--parts start --before '%s' --before_tree /nonexistent"):format(program.moonrank))
    test.check(not well and text:find "table_5_1%.lua.*/nonexistent", text)
  end)
  it("all.lua --parts measures the named parts, and keeps the rows of others in the folder", function()
    for _, part in ipairs{ "start", "long_list" } do
      local well, text = run(("all.lua --quick --cpu --no-peers --parts %s --out '%s/all'"):format(part, folder))
      test.check(well and not text:find "failed" and text:find("processor time", 1, true), text)
    end
    local file <close> = assert(io.open(folder .. "/all/bench.csv"))
    local rows = file:read("a")
    test.check(rows:find("\nstart,moonrank,1,%d") and rows:find "list of 20000 rows", rows)
    local well, text = run(("all.lua --parts nope --out '%s/all'"):format(folder))
    test.check(not well and text:find "nope", text)
  end)
  it("before_after.lua compares the tables of two runs", function()
    local function write(name, rows)
      local file <close> = assert(io.open(("%s/%s.csv"):format(folder, name), "w"))
      file:write("workload,program,threads,ms,least,most,times ours,note\n", rows)
    end
    write("before",
      '"an epoch, ap",moonrank,1,30,20,50,1,\n"an epoch, ap",PyTorch,1,90,80,99,3,\nold,moonrank,1,5,5,5,1,\n')
    write("after", '"an epoch, ap",moonrank,1,12,10,14,1,\n"an epoch, ap",PyTorch,1,90,80,99,7,\n'
      .. 'new,moonrank,2,7,6,8,1,0.10 GB at most\n')
    local function compared(name)
      return run(("before_after.lua '%s/before.csv' '%s/%s'"):format(folder, folder, name))
    end
    local well, text = compared "after.csv"
    test.check(well, text)
    for _, line in ipairs{ "| an epoch, ap | moonrank | 1 | 30 (20 to 50) | 12 (10 to 14) | 2.50 |",
      "| old | moonrank | 1 | 5 (5 to 5) |  |  |",
      "| new | moonrank | 2 |  | 7 (6 to 8) |  |  |  | 0.10 GB at most |",
      "| an epoch, ap | PyTorch | 1 | 90 (80 to 99) | 90 (80 to 99) | 1.00 |" } do
      test.check(text:find(line, 1, true), line .. "\n" .. text)
    end
    well, text = compared "nothing.csv"
    test.check(not well and text:find("nothing.csv", 1, true), text)
  end)
  it("native.lua lets a peer work in turn with Moonrank, and says why another one failed", function()
    local turns = "echo ready; while read word && [ $word = go ]; do echo 2.5 1.5 2048; done"
    shell(("printf '%%s\\n' '#!/bin/sh' 'case $2 in lightgbm) %s;; *) echo ValueError: none >&2; exit 1;; esac' "
      .. ">'%s/python3'"):format(turns, folder))
    local csv = folder .. "/native.csv"
    local well, text = run_by_python(("native.lua --quick --jobs letor --csv '%s'"):format(csv))
    test.check(well, text)
    test.check(text:find "LETOR text, 200 rows[^\n]*moonrank +1 +%d", text)
    local ms, ratio = text:match "LightGBM +1 +(%S+) +%S+ +%S+ +(%S+)"
    test.check(tonumber(ms) == 2500 and tonumber(ratio) > 1, text)
    test.check(text:find "LightGBM[^\n]* 1500 +2 +2\n", text)  -- the CPU time (ms), the peak memory (MiB) and the goal
    test.check(text:find "scikit%-learn +1 +failed: ValueError: none", text)
    test.check(core.is_file(csv))
    shell(("printf '%%s\\n' '#!/bin/sh' 'kill -9 $$' >'%s/python3'"):format(folder))
    well, text = run_by_python "native.lua --quick --jobs letor"
    test.check(well and text:find "LightGBM +1 +failed", text)
  end)
  it("metrics.lua compares a peer's times with ours", function()
    local well, text = with_python "echo 10; echo 30; echo 20"
    test.check(well, text)
    local ms, least, most, ratio = text:match "nDCG, AP, RR, RBP[^\n]*\n[^\n]-ranx +1 +(%S+) +(%S+) +(%S+) +(%S+)"
    test.equal({ ms, least, most }, { "2e+04", "1e+04", "3e+04" })
    test.check(tonumber(ratio) > 100, ratio)
  end)
end)

shell(("rm -rf '%s'"):format(folder))
