-- How do I get a sweep's results into a spreadsheet, pandas or a paper?
-- `mr.results` reads the store, even while the sweep still runs. Tables of results are exported as CSV, Markdown or
-- LaTeX. The store is an SQLite file, which other programs can read directly; the manual's page on files describes
-- its tables.
local mr = require "moonrank"
mr.sweep{ name = "squares", store = "results.db", workers = 0, progress = false, direction = "minimize",
  space = { x = mr.range(-1, 2) }, run = function(trial) return { error = trial.x ^ 2 } end }
local study = mr.results("results.db", "squares")
print(study:pivot{ rows = "x", value = "error" }:to_csv())
print(study:to_csv():match "^[^\n]*")
--> x,error
--> -1,1
--> 0,0
--> 1,1
--> 2,4
-->
--> number,state,x,value,error,wall,reason
