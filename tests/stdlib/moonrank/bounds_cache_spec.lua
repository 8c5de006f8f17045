-- Tables of distributions on disk: read back bit for bit, and never trusted where anything is odd about the file.
local test = require "moonrank.test"
local describe, it, equal, check, skip = test.describe, test.it, test.equal, test.check, test.skip

local moonrank = os.getenv("MOONRANK")
local path = os.tmpname() .. "_tables"

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
  pipe:close()
  local said = assert(io.open(errors)):read("a")
  os.remove(file)
  os.remove(errors)
  return tonumber(count), values, said
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
    equal({ again, quiet }, { 27, "" })
    check(same == values and #values > 100, values)
    check(content() == whole, "nothing new, nothing written")
  end)

  it("makes damaged, foreign, older and cut files anew, with a warning", function()
    local middle = #whole // 2
    local kinds = {
      flipped = whole:sub(1, middle) .. string.char(whole:byte(middle + 1) ~ 1) .. whole:sub(middle + 2), cut = whole:sub(1, middle),
      foreign = "not a table\n", empty = "", older = whole:gsub("moonrank tables 2", "moonrank tables 1"),
      renamed = whole:gsub("ndcg 7 2", "ndcg 7 3"), huge = ("\255"):rep(8) .. whole:sub(9),
    }
    for kind, bytes in pairs(kinds) do
      check(bytes ~= whole, kind)
      overwrite(bytes)
      local read, found, warning = run()
      equal(read, 0, kind)
      check(warning:find("made anew", 1, true), kind .. ": " .. warning)
      check(found == values, kind)
      equal((run()), 27, kind)
    end
    os.remove(path)
  end)
end)
