-- Tests cells of Jupyter notebooks: which expression a cell shows, and in which formats.
local notebook = require "moonrank.prompt.notebook"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

require("moonrank.prompt.strict").off()  -- code of cells may set global variables
require("moonrank.prompt.repl").preset()

-- Returns the texts that a cell shows.
local function shown(code)
  local texts = {}
  for i, output in ipairs(notebook.cell{ code = code, name = "In[1]" }.outputs) do texts[i] = output.text end
  return texts
end

describe("a cell", function()
  it("shows an expression on its last line, also of several lines", function()
    test.equal(shown "local a = 1\na + 1", { "2" })
    test.equal(shown "local t = 5\nmath.max(\n  t,\n  6)", { "6" })
    test.equal(shown "t = 5\n#'abc'", { "3" })
    test.equal(shown "t, 1", { "5\t1" })
  end)

  it("shows nothing after a statement, a semicolon or a block", function()
    test.equal(shown "b = 3", {})
    test.equal(shown "b = 1\nb;", {})
    test.equal(shown "if b then\n  tostring(b)\nend", {})
  end)

  it("does not tear a statement of several lines", function()
    test.equal(shown "c = 5\n- 2\nc", { "3" })
    test.equal(shown "local function f(x) return x end\nd = f\n(7)\nd", { "7" })
  end)

  it("names its line in errors", function()
    for code, line in pairs{ ["x = 1\nerror 'no'"] = 2, ["x = 1\ny = = 2"] = 2, ["\n\nnothing.a = 1"] = 3 } do
      local ok, problem = pcall(notebook.cell, { code = code, name = "In[4]" })
      test.check(not ok and problem:find(("In[4]:%d:"):format(line), 1, true), code)
    end
  end)

  it("ends with an error at once if it calls itself without end", function()
    local ok, problem = pcall(notebook.cell, { code = "local function f() return 1 + f() end\nf()", name = "In[4]" })
    test.check(not ok and problem:find("stack overflow", 1, true), problem)
  end)

  it("has HTML for a table, with the same text as at the prompt", function()
    local outputs = notebook.cell{ code = "mr.table{columns = {'<a>'}, rows = {{1}}}", name = "In[1]" }.outputs
    test.check(outputs[1].html:find("&lt;a&gt;", 1, true) and outputs[1].text:find("<a>", 1, true))
  end)
end)
