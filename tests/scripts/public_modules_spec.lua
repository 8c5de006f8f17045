-- Tests that scripts require only the module "moonrank", because they are examples of how to use the library.
local files = require "tests.support.files"
local test = require "moonrank.test"

test.it("scripts require no module of the library but moonrank", function()
  local count = 0
  for path in files.output("find scripts -name '*.lua'"):gmatch "[^\n]+" do
    local file <close> = assert(io.open(path))
    for name in file:read("a"):gmatch "require%s*%(?%s*[\"']([%w_.]+)[\"']" do
      test.equal(name, "moonrank", path)
      count = count + 1
    end
  end
  test.check(count > 100, count)
end)
