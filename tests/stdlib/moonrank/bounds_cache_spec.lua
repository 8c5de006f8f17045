-- Tables of distributions on disk: read back bit for bit, and not used where anything about the file is wrong.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, equal, check, skip = test.describe, test.it, test.equal, test.check, test.skip

local moonrank = os.getenv("MOONRANK")
local path = os.tmpname() .. "_tables"
local exact = 18  -- tables of three metrics, three shapes and two bounds; those from samples are not written

-- Bounded values in hexadecimal, after telling how many tables were read; and what was said on the terminal.
local script = [[
local mr = require "moonrank"
print(mr.bounds.cache(arg[1]))
local lists = mr.lists{{1, 0, 0, 1, 0, 0, 0}, {0, 1, 0}, {2, 1, 0, 0, 1}, {1, 1}}
for _, loss in ipairs{"ndcg", "ap", "nrbp"} do
  for _, o in ipairs{{}, {method = "sampled", samples = 500}, {beta = 1}} do
    local bound = mr.bounds.distribution_bound(o)
    for _, x in ipairs(mr.losses[loss]{bound = bound}(mr.normal({17}, {seed = 1}), lists):totable()) do print(("%a"):format(x)) end
  end
end
]]

local function run()
  local file, errors = os.tmpname(), os.tmpname()
  local handle = assert(io.open(file, "w"))
  handle:write(script)
  handle:close()
  local pipe = assert(io.popen(("%s %s %s 2>%s"):format(moonrank, file, path, errors)))
  local count, values = pipe:read("l"), pipe:read("a")
  local ended = pipe:close()
  local said = assert(io.open(errors)):read("a")
  os.remove(file)
  os.remove(errors)
  return tonumber(count), values, said, ended
end

local function content()
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("a")
  file:close()
  return bytes
end

local function overwrite(bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

describe("mr.bounds.cache", function()
  if not moonrank then return it("reads tables back", function() skip("MOONRANK does not name the program") end) end
  os.remove(path)
  local count, values, said = run()
  local whole = content()

  it("writes what was made, and reads it back with the same results", function()
    equal({ count, said }, { 0, "" })
    local again, same, quiet = run()
    equal({ again, quiet }, { exact, "" })
    check(same == values and #values > 100, values)
    check(content() == whole, "nothing new, nothing written")
  end)

  it("makes damaged, older and cut files anew, with a warning", function()
    local middle = #whole // 2
    local kinds = {
      flipped = whole:sub(1, middle) .. string.char(whole:byte(middle + 1) ~ 1) .. whole:sub(middle + 2), cut = whole:sub(1, middle),
      older = whole:gsub("moonrank tables 2", "moonrank tables 1"), newer = whole:gsub("moonrank tables 2", "moonrank tables 3"),
      renamed = whole:gsub("ndcg 7 2", "ndcg 7 3"), ["of other numerics"] = whole:gsub('"numerics":"2', '"numerics":"1'),
    }
    for kind, bytes in pairs(kinds) do
      check(bytes ~= whole, kind)
      overwrite(bytes)
      local read, found, warning = run()
      equal(read, 0, kind)
      check(warning:find("made anew", 1, true), kind .. ": " .. warning)
      check(found == values, kind)
      equal((run()), exact, kind)
    end
  end)

  it("leaves every other file alone, and says so before work begins", function()
    local deep = '{"a":' .. ("["):rep(1000000) .. ("]"):rep(1000000) .. "}"
    for _, bytes in ipairs{ "not a table\n", ("\255"):rep(8) .. whole:sub(9), ("<s8"):pack(deep), ("<s8"):pack("{}"), whole:sub(1, 100),
      (whole:gsub("moonrank tables 2", "somebody tables 2")) } do
      overwrite(bytes)
      local count_read, said_out, said_err, ended = run()
      equal({ count_read, said_out, ended }, { nil, "", nil })
      check(said_err:find(path, 1, true) and said_err:find("'moonrank tables'", 1, true), said_err)
      check(content() == bytes, "as it was")
    end
    os.remove(path)
    os.execute("mkfifo " .. path)
    check(select(3, run()):find(path, 1, true), "a pipe")
    os.remove(path)
    overwrite ""
    equal({ run() }, { 0, values, "", true })
    equal((run()), exact)
  end)

  it("keeps no table of a file before all of it was checked", function()
    local names, tensors, _, texts = core.load_tensors(path, "moonrank tables")
    local found = {}
    for i, name in ipairs(names) do found[name] = tensors[i] end
    local lines, counts = {}, found.counts:totable()
    for line in texts[1]:gmatch "[^\n]+" do lines[#lines + 1] = "crafted " .. line end
    local function crafted(change, sum)
      local text, knots, places = table.concat(lines, "\n") .. "\n", found.knots:totable(), found.places:totable()
      local own = table.move(counts, 1, #counts, 1, {})
      text = change(own, knots, places, text) or text
      local function float64(numbers) return mr.tensor(numbers, { dtype = "float64" }) end
      local all = { mr.tensor(own, { dtype = "int64" }), float64(knots), float64(places) }
      local bytes = text .. ("<i8"):rep(#own):pack(table.unpack(own)) .. core.float64_bytes(all[2]) .. core.float64_bytes(all[3])
      core.save_tensors(path, "moonrank tables 2", { "counts", "knots", "places" }, all, { "keys", "sha256" },
        { text, sum or core.sha256(bytes) })
      local before = core.count_tables()
      local count_read, problem = core.load_tables(path)
      return count_read, problem, core.count_tables() - before
    end
    local changes = {
      ["table 18"] = function(_, knots) knots[#knots] = -1 end,
      ["sizes"] = function(own) own[#own] = own[#own] - 2 end,
      ["numbers of tables"] = function(_, _, _, text) return text .. "one more\n" end,
      ["twice"] = function(_, _, _, text) return (text:gsub("[^\n]+\n$", lines[1] .. "\n")) end,
      ["table 1"] = function(_, _, places) places[2] = math.huge end,
    }
    for why, change in pairs(changes) do
      local count_read, problem, kept = crafted(change)
      equal({ count_read, kept }, { 0, 0 }, why)
      check(problem:find(why, 1, true), problem)
    end
    local count_read, problem, kept = crafted(function() end, core.sha256 "other tables")
    equal({ count_read, kept }, { 0, 0 })
    check(problem:find("checksum", 1, true), problem)
    count_read, problem, kept = crafted(function() end)
    equal({ count_read, problem, kept }, { exact, nil, exact })
    os.remove(path)
  end)
end)
