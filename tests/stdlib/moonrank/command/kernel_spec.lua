-- Tests the command `moonrank kernel`: it passes its arguments to Python, and explains what is missing.
local kernel = require "moonrank.command.kernel"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

-- Returns the exit status and the message with which `moonrank kernel` rejects these arguments.
local function refused(...)
  local ok, problem = pcall(kernel.run, { ... })
  test.check(not ok and type(problem) == "userdata", "the command did not refuse its words")
  return problem.exit_status, problem.message
end

describe("moonrank kernel", function()
  it("quotes the words for the shell", function()
    test.equal(kernel.shell{ "install", "--prefix", "a 'b'", "--python", "my python" },
      [['my python' -m moonrank.kernel 'install' '--prefix' 'a '\''b'\''']])
  end)

  it("refuses other words, and names a Python that does not run or lacks the package", function()
    test.equal(refused(), 2)
    test.equal(refused "instal", 2)
    test.equal(refused("install", "--python"), 2)
    local _, message = refused("install", "--python", "/nowhere/python3")
    test.check(message:find("/nowhere/python3", 1, true))
    _, message = refused("install", "--python", "/bin/false")
    test.check(message:find("/bin/false", 1, true))
    local without = files.written('#!/bin/sh\n[ "$2" = pass ]\n')
    os.execute("chmod +x " .. without)
    _, message = refused("install", "--python", without)
    local version = require("moonrank").version
    test.check(message:find("pip install './moonrank-" .. version, 1, true) and message:find("whl[kernel]'", 1, true))
  end)
end)
