-- Tests the cache folder of sampled distributions: every process must read from it exactly what it would otherwise
-- draw.
local core = require "moonrank.core"
local program = require "tests.support.program"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, equal, check, skip = test.describe, test.it, test.equal, test.check, test.skip

-- A script that prints values and gradients under the thesis' sampled bound, in hexadecimal. 100,000 rankings of 50
-- rows are enough work to be cached in a file.
local script = [[
local mr = require "moonrank"
local lists = {}
for l = 1, 6 do
  lists[l] = {}
  for i = 1, 44 + l do lists[l][i] = i % 3 == 0 and 1 or 0 end
end
lists = mr.lists(lists)
local scores = mr.normal({lists.rows}, {seed = 1, dtype = "float64"}):requires_grad()
for _, loss in ipairs{"ndcg", "ap", "nrbp"} do
  for _, steepness in ipairs{"samples", "kappa"} do
    local bound = mr.bounds.distribution_bound{method = "sampled", samples = 100000, steepness = steepness, also = ALSO}
    local values = mr.losses[loss]{bound = bound}(scores, lists)
    values:sum():backward()
    for _, x in ipairs(values:totable()) do print(("%a"):format(x)) end
  end
end
for _, x in ipairs(scores.grad:totable()) do print(("%a"):format(x)) end
]]
local of_both = script:gsub("ALSO", '{"ndcg", "ap", "nrbp_loss"}')
local of_ndcg = script:gsub("ALSO", '{"ap"}'):gsub('"ndcg", "ap", "nrbp"}', '"ndcg"}')

local cache = os.tmpname() .. "_cache"
local folder = cache .. "/moonrank/samples"

local function command(text, environment)
  return ("XDG_CACHE_HOME=%s MOONRANK_SAMPLES_GIB= %s %s %s"):format(cache, environment or "", program.moonrank,
    files.written(text))
end

local function run(text, environment)
  local ended, said = program.run(command(text, environment))
  return said, ended
end

local function kept_files()
  local names = {}
  for name in files.output("ls " .. folder .. "/*.samples 2>/dev/null"):gmatch "[^\n]+" do names[#names + 1] = name end
  return names
end

local function empty() os.execute("rm -rf " .. cache) end

describe("the cache of sampled distributions", function()
  if not program.moonrank then return it("needs the " ..
    "program", function() skip("MOONRANK does not name the program") end) end
  empty()
  local values, well = run(of_both, "MOONRANK_SAMPLES_GIB=0")

  it("is not written with MOONRANK_SAMPLES_GIB=0", function()
    check(well and #values > 1000, values)
    equal(#kept_files(), 0)
  end)

  it("has a file per metric and list size, and is read to the same results", function()
    equal(run(of_both), values)
    local kept = kept_files()
    equal(#kept, 18)
    os.execute(("touch -d '2 days ago' %s/*.samples"):format(folder))
    local recent = ("find %s -name '*.samples' -mmin -60 | wc -l"):format(folder)
    equal(files.output(recent), "0\n")
    equal(run(of_both), values)
    equal(kept_files(), kept)
    equal(files.output(recent), "18\n", "all were used")
  end)

  it("replaces damaged files", function()
    for i, path in ipairs(kept_files()) do
      local whole = files.read(path)
      core.write_file(path, i % 2 == 0 and whole:sub(1, 1000 * i) or whole:sub(1, -10) .. "1" .. whole:sub(-8))
    end
    equal(run(of_both), values)
    equal(#kept_files(), 18)
    equal(run(of_both), values)
  end)

  it("has files for the metrics in the option also", function()
    empty()
    run(of_ndcg)
    equal(#kept_files(), 12, "nDCG and AP of six sizes")
    local both = {}
    for _, path in ipairs(kept_files()) do both[path] = files.read(path) end
    equal(run(of_both), values)
    for path, bytes in pairs(both) do check(bytes == files.read(path), path) end
  end)

  it("gives the same results if two processes write it at the same time", function()
    empty()
    local both = { assert(io.popen(command(of_both) .. " 2>&1")), assert(io.popen(command(of_both) .. " 2>&1")) }
    for _, pipe in ipairs(both) do
      equal(pipe:read "a", values)
      pipe:close()
    end
    equal(#kept_files(), 18)
    equal(run(of_both), values)
  end)

  it("is left out if its folder cannot be written", function()
    empty()
    core.make_folder(folder)
    core.write_file(folder, "a file in place of the folder")
    equal(run(of_both), values)
    equal(files.read(folder), "a file in place of the folder")
    empty()
    equal(run(of_both, "HOME= XDG_CACHE_HOME="), values)
  end)

  it("stays below MOONRANK_SAMPLES_GIB", function()
    equal(run(of_both, "MOONRANK_SAMPLES_GIB=0.004"), values)
    local sum = 0
    for _, path in ipairs(kept_files()) do sum = sum + #files.read(path) end
    check(sum > 0 and sum <= 0.004 * 2 ^ 30, sum)
    empty()
  end)

  it("is read or drawn once per process for lists of one shape", function()
    -- prints the number of cache files after each batch. The first file is deleted, and would be written again if the
    -- process drew the same samples again
    local text = [[
local mr = require "moonrank"
local loss = mr.losses.ap{bound = mr.bounds.distribution_bound{method = "sampled", samples = 100000, seed = 77}}
local function list(n, first)
  local grades = {}
  for i = 1, n do grades[i] = i >= first and i < first + 9 and 1 or 0 end
  return mr.lists{grades}
end
for _, lists in ipairs{list(50, 1), list(50, 30), list(51, 1)} do
  loss(mr.normal({lists.rows}, {seed = 1}), lists)
  local pipe = assert(io.popen "ls FOLDER | grep -c samples$")
  print(pipe:read "n")
  os.execute "rm -f FOLDER/*.samples"
end
]]
    empty()
    equal(run((text:gsub("FOLDER", folder))), "1\n0\n1\n", "drawn; of the same shape; of another shape")
    empty()
  end)

  it("refuses metrics in also that need more than the shape of a list", function()
    local mr = require "moonrank"
    local ok, message = pcall(mr.bounds.distribution_bound, { method = "sampled", also = { "ap", "err" } })
    check(not ok and tostring(message):find("'err'", 1, true), message)
  end)
end)
