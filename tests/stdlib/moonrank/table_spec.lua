-- Tables: aligned text and comma separated values.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, check, equal, raises = test.it, test.check, test.equal, test.raises

it("aligns words to the left and numbers to the right", function()
  local t = mr.table{ columns = { "loss", "ndcg", "lists" }, formats = { ndcg = "%.3f" },
    rows = { { "nDCG", 0.96589, 412 }, { "nRBP", 0.9, 7 } } }
  equal(tostring(t), table.concat({ "loss   ndcg  lists", "----  -----  -----", "nDCG  0.966    412", "nRBP  0.900      7" }, "\n"))
end)

it("measures letters, not bytes", function()
  local t = mr.table{ columns = { "name", "x" }, rows = { { "Järvelin", 1 }, { "Li", 2 } } }
  equal(tostring(t), table.concat({ "name      x", "--------  -", "Järvelin  1", "Li        2" }, "\n"))
end)

it("leaves gaps blank and shows NaN as a dash", function()
  local t = mr.table{ columns = { "a", "b", "c" }, rows = { { 1, nil, 2.5 }, { 0 / 0, "x" } } }
  equal(tostring(t), table.concat({ "a  b    c", "-  -  ---", "1     2.5", "-  x" }, "\n"))
end)

it("has a head without rows", function()
  equal(tostring(mr.table{ columns = { "a", "bc" } }), "a  bc\n-  --")
end)

it("writes comma separated values that read back exactly", function()
  local t = mr.table{ columns = { "name", "x" }, rows = { { 'say "a, b"', 0.1 }, { nil, 3 }, { "two\nlines", -0.0 } } }
  equal(t:to_csv(), 'name,x\n"say ""a, b""",0.10000000000000001\n,3\n"two\nlines",-0\n')
end)

it("writes JSON, an object per row, that other programs read", function()
  local t = mr.table{ columns = { "name", "x", "ok" }, rows = { { 'say "a"', 0.1, false }, { nil, 3 }, { "b", 0 / 0, true } } }
  equal(t:to_json(), '[{"name":"say \\"a\\"","ok":false,"x":0.10000000000000001},\n{"x":3},\n{"name":"b","ok":true,"x":"nan"}]')
  equal(mr.table{ columns = { "a" } }:to_json(), "[]")
end)

it("is HTML in which no text is taken for a tag, numbers in cells of a class", function()
  local t = mr.table{ columns = { "a<b", "p & q" }, formats = { ["p & q"] = "%.2f" }, rows = { { '"x" > 1', 0.5 }, { nil, 0 / 0 } } }
  equal(t:to_html(), table.concat({ "<table>", '<thead><tr><th>a&lt;b</th><th class="number">p &amp; q</th></tr></thead>', "<tbody>",
    '<tr><td>&quot;x&quot; &gt; 1</td><td class="number">0.50</td></tr>', '<tr><td></td><td class="number">-</td></tr>', "</tbody>",
    "</table>\n" }, "\n"))
end)

it("refuses what it does not know", function()
  raises(function() mr.table{ rows = {} } end, "columns is missing")
  raises(function() mr.table{ columns = { "a" }, formats = { b = "%d" } } end, "'b'")
  raises(function() mr.table{ column = { "a" } } end, "did you mean 'columns'?")

  it("shows long texts in time that goes with their length", function()
    local shown = tostring(mr.table{ columns = { "a", "b" }, rows = { { ("x"):rep(200000), 1 }, { "y", 2 } } })
    check(#shown > 400000 and shown:find("\ny +%d", 1) ~= nil)
  end)
end)
