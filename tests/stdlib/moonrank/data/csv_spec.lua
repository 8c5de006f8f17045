-- Tests the reader of CSV tables: fields in quotation marks, types of columns, and errors that name the line.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, equal, it, raises = test.describe, test.equal, test.it, test.raises

local file = files.written
local function read(text, options) return mr.data.csv(file(text), options) end

describe("mr.data.csv", function()
  it("reads fields in quotation marks, line ends of Windows and a byte order mark", function()
    local t = read '\xEF\xBB\xBFname,"a ""b"""\r\n"x,\r\ny",1\r\n\r\n"",2'
    equal(t.columns, { "name", 'a "b"' })
    equal(t.rows, { { "x,\r\ny", 1 }, { "", 2 } })
    equal(read("a\tb\n1\t2\n", { delimiter = "\t" }).rows, { { 1, 2 } })
    equal(read("a;b\n1,5;2\n", { delimiter = ";" }).rows, { { "1,5", 2 } })
    equal(read("a,b\n1,").rows, { { 1 } })
    equal(read("a,b\r1,2\r").rows, { { 1, 2 } })
    equal(read '"a\rb",c\n1,\r\n,2\r'.columns, { "a\rb", "c" })
  end)

  it("makes numbers of columns that have only numbers and empty fields", function()
    local t = read "a,b,c,d,e\n1,1.5,x,007,0x10\n-2,,3,8,1\n3,nan,4,9,2\n"
    equal(t:column "a", { 1, -2, 3 })
    equal(math.type(t.rows[1][1]), "integer")
    equal({ t.rows[1][2], t.rows[2][2], t.rows[3][2] ~= t.rows[3][2] }, { 1.5, nil, true })
    equal(t:column "c", { "x", "3", "4" })
    equal(t:column "d", { "007", "8", "9" })
    equal(t:column "e", { "0x10", "1", "2" })
    equal(read("a\n1\n2\n", { texts = { "a" } }):column "a", { "1", "2" })
    equal(read("1,x\n2,y\n", { header = false }).columns, { "1", "2" })
    equal(read("1,x\n2,y\n", { header = false }):column "2", { "x", "y" })
  end)

  it("keeps integers of 64 bits exact, and larger ones as texts", function()
    local t = read "a,b,c\n9007199254740993,9223372036854775808,1.5\n-9223372036854775808,3,1e3\n"
    equal(t:column "a", { 9007199254740993, math.mininteger })
    equal(t:column "b", { "9223372036854775808", "3" })
    equal(t:column "c", { 1.5, 1000.0 })
  end)

  it("refuses numbers that are too large for 64-bit floating point, unless the column is one of texts", function()
    for _, word in ipairs{ "1e400", "-1e400", "1.5E+309" } do
      local text = 'a,b\n"x\ny",1\n\nz,' .. word .. "\n"
      raises(function() read(text) end, ":5", "'b'", "'" .. word .. "'", "texts")
      equal(read(text, { texts = { "b" } }):column "b", { "1", word })
      equal(read("a,b\nx,1\nz," .. word .. "\nz,word\n"):column "b", { "1", word, "word" })
    end
    raises(function() read("1,2\n3,1e400\n", { header = false }) end, ":2", "'2'", "'1e400'")
    equal(read("a\n1.7976931348623157e308\n1e-400\nInf\n-inf\n"):column "a",
      { 1.7976931348623157e308, 0.0, math.huge, -math.huge })
  end)

  it("reads a file packed by gzip, whatever its name is", function()
    local path = file 'a,b\n1,"x\ny"\n'
    sweeps.capture("gzip -n " .. path)
    equal(mr.data.csv(path .. ".gz").rows, { { 1, "x\ny" } })
    equal(os.rename(path .. ".gz", path), true)
    equal(mr.data.csv(path).rows, { { 1, "x\ny" } })
  end)

  it("reads back what to_csv wrote", function()
    local rows = { { "=1+1", 0.1, 1 }, { 'a "b",\n', 1 / 3, -(2 ^ 53 | 0) }, { "'=x", 1e300, 0 }, { "", -0.5, 3 } }
    local t = mr.table{ columns = { "text", "float", "integer" }, rows = rows }
    local again = read(t:to_csv())
    equal(again.columns, t.columns)
    equal(again.rows, rows)
    local formula = mr.table{ columns = { "=a" }, rows = { { "=b" } } }
    equal(read(formula:to_csv(), { texts = { "=a" } }):column "=a", { "=b" })
    local edges = read(mr.table{ columns = { "x" }, rows = { { 0 / 0 }, { math.huge }, { -math.huge } } }:to_csv())
    equal(edges:column "x", { 0 / 0, math.huge, -math.huge })
  end)

  it("refuses damaged tables, and names the line", function()
    raises(function() read "a,b\n1,2\n3\n" end, ":3:", "found 1", "2")
    raises(function() read 'a,b\n1,"2\n' end, ":2:3", "quote")
    raises(function() read 'a,b\n"1"x,2\n' end, ":2:4", "quote")
    raises(function() read 'a,b\n"1\n",2\n\n3\n' end, ":5:", "found 1", "2")
    raises(function() read "a,a\n1,2\n" end, "'a'", "twice")
    raises(function() read "" end, "empty")
    raises(function() read("a\n1\n", { texts = { "b" } }) end, "texts", "b")
    raises(function() read("a\n1\n", { delimiter = "ab" }) end, "delimiter")
    raises(function() mr.data.csv "none.csv" end, "none.csv")
    local path = file("x", ".gz")
    equal(mr.data.csv(path).columns, { "x" })
    files.write(path, "\x1f\x8bx")
    raises(function() mr.data.csv(path) end, path, "gzip")
    raises(function() read("a\n1\n"):column "b" end, "b", "a")
  end)

  it("reads a results file of this project as its script does", function()
    local folder = sweeps.capture("ls docs/results/*/*.csv"):match "[^\n]+"
    local t, cells = mr.data.csv(folder), dofile("docs/report/results_file.lua").read(folder)
    equal(#t.rows, #cells)
    equal(t:column "column", mr.table{ columns = { "c" }, rows = (function()
      local rows = {}
      for i, cell in ipairs(cells) do rows[i] = { cell.column } end
      return rows
    end)() }:column "c")
  end)
end)
