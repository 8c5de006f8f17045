-- Tests mr.experiment.table and mr.experiment.mean: cells made from records, their intervals, and the number of
-- training runs behind them.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, raises = test.it, test.equal, test.near, test.raises

it("mr.experiment.table shows fields of records, leaves out columns that are false, and keeps intervals", function()
  local named = mr.experiment.table{ caption = "Means", legend = "b: twice a", by = "bootstrap over users",
    records = { { name = "x", a = { 0.25, 0.125, 0.5 } }, { name = "y", a = { 0.5 } }, { name = "z" } },
    columns = { { "name" }, { "A", "a", format = "%.2f", mark = "max" }, false,
      { "b", function(each) return each.a and 2 * each.a[1] end } },
    runs = function(record, column) return #record.name + (column == "b" and 4 or 0) end }
  local shown = named.table
  equal({ named.caption, named.legend, shown.columns, shown:column "A", shown:column "b" },
    { "Means", "b: twice a", { "name", "A", "b" }, { 0.25, 0.5 }, { 0.5, 1.0 } })
  equal({ named.cells.intervals.A, named.cells.by }, { { { 0.125, 0.5 } }, "bootstrap over users" })
  equal({ named.cells.runs(shown.rows[1], "A"), named.cells.runs(shown.rows[3], "b") }, { 1, 5 })
  equal({ shown.mark.A, shown.formats.A }, { "max", "%.2f" })
end)

it("mr.experiment.table states runs behind a cell only if the script does", function()
  local function runs_of(runs)
    local named = mr.experiment.table{ columns = { { "a" } }, records = { { a = 1, n = 3 } }, runs = runs }
    local stated = named.cells.runs
    if type(stated) == "function" then return stated(named.table.rows[1], "a") end
    return stated
  end
  equal({ runs_of(nil), runs_of(5), runs_of(function(record) return record.n end) }, { nil, 5, 3 })
end)

it("mr.experiment.table states for each cell how its interval was computed, if that differs", function()
  local named = mr.experiment.table{ columns = { { "a" }, { "b" } },
    records = { { units = "users" }, { units = "queries" } },
    by = function(record, column) return ("bootstrap of %s over %s"):format(column, record.units) end }
  local rows, by = named.table.rows, named.cells.by
  equal({ by(rows[1], "a"), by(rows[2], "b") }, { "bootstrap of a over users", "bootstrap of b over queries" })
end)

it("mr.experiment.table refuses columns without a head, and mr.experiment.mean other intervals", function()
  raises(function() mr.experiment.table{ columns = { { "a" }, { 3 } }, records = {} } end, "columns[2]")
  raises(function() mr.experiment.mean({ 1 }, "users") end, "users")
end)

it("mr.experiment.mean has an interval over lists or over runs, none for a single value", function()
  local values = { 0.1, 0.2, 0.4, 0.8 }
  near(mr.experiment.mean(values), { 0.375, table.unpack(mr.experiment.over_lists(values)) }, 1e-12)
  near(mr.experiment.mean(values, "runs"), { 0.375, table.unpack(mr.experiment.over_runs(values)) }, 1e-12)
  equal(mr.experiment.mean({ 0.5 }, "runs"), { 0.5 })
end)
