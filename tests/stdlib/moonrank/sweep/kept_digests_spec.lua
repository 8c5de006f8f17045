-- A sweep goes on only if the objects that its script captured have the digests that its store has. So a new version of
-- the library must give the same digests as the version that made tests/golden/kept_digests.txt. A digest contains the
-- names of an object's fields and of what its functions capture, private ones included.
local mr = require "moonrank"
local code = require "moonrank.sweep.code"
local test = require "moonrank.test"
local objects = dofile "tests/support/kept_objects.lua"(mr)

test.describe("objects that a kept sweep captured", function()
  test.it("have the digests of the version that kept it", function()
    local count = 0
    for line in io.lines "tests/golden/kept_digests.txt" do
      local name, digest = line:match "^([^\t]+)\t(%x+)$"
      local object = objects[name]
      test.check(object, "no object " .. name)
      local text = code.of(function() return object end)
      test.check(text:find("holds run.object\t" .. digest, 1, true),
        ("'%s' has another digest: stores that captured it would be refused"):format(name))
      count = count + 1
    end
    test.equal(count, 43)
  end)
end)
