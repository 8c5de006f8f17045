-- stdlib/meta/core.lua is what `moonrank --dump-api > stdlib/meta/core.lua` writes today.
local test = require "moonrank.test"
local core = require "moonrank.core"

test.it("the description of the core for editors is current", function()
  local kept = core.stdlib_text "stdlib/meta/core.lua"
  test.check(kept, "stdlib/meta/core.lua is missing: moonrank --dump-api > stdlib/meta/core.lua")
  test.check(kept == require("moonrank.dump_api").text() .. "\n", "out of date: moonrank --dump-api > stdlib/meta/core.lua")
end)

test.it("it cannot be required", function()
  local chunk = assert(load(core.stdlib_text "stdlib/meta/core.lua", "@meta"))
  test.raises(chunk, "cannot be required")
end)
