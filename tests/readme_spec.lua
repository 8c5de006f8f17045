-- The code in README.md runs when it is pasted: at the prompt, and as a script. Made-up ratings stand for MovieLens.
local test = require "moonrank.test"
local program = dofile "tests/support/program.lua"

-- Blocks of Lua in a text in Markdown.
local function blocks(path)
  local found, current = {}, nil
  for line in io.lines(path) do
    if line:match "^```" then
      if current then found[#found + 1] = table.concat(current, "\n") .. "\n" end
      current = not current and line == "```lua" and {} or nil
    elseif current then
      current[#current + 1] = line
    end
  end
  return found
end

local made_up = [[local mr = require "moonrank"
mr.data.movielens = function()
  return mr.data.synthetic{kind = "ratings", users = 60, items = 400, mean_activity = 90, seed = 1}
end
]]

local found = blocks "README.md"

test.it("README.md has blocks of Lua", function() test.check(#found >= 3, #found .. " blocks") end)

for number, block in ipairs(found) do
  -- Runs a block with this command in a folder of its own, without an error.
  local function runs(how)
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    if not program.has_gnuplot() then return test.skip "no gnuplot" end
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    for name, text in pairs{ ["block.lua"] = block, ["made_up.lua"] = made_up } do
      local file <close> = assert(io.open(folder .. "/" .. name, "w"))
      file:write(text)
    end
    local ok, said =
      program.run(("cd %s && TERM=dumb %s -e 'dofile \"made_up.lua\"' %s"):format(folder, program.moonrank, how))
    os.execute("rm -r " .. folder)
    test.check(ok and not said:find("moonrank: ", 1, true), said)
    return said
  end
  local first = block:match "\n(local [^\n]*)"
  test.it(("README.md's block %d loads the library"):format(number), function()  -- the runs below have `mr` from -e
    test.equal(block:match "^[^\n]*", 'local mr = require "moonrank"')
  end)
  test.it(("README.md's block %d runs as a script: %s"):format(number, first), function() runs "block.lua" end)
  test.it(("README.md's block %d runs at the prompt: %s"):format(number, first), function() runs "-i < block.lua" end)
end
