-- How do I get a sweep's results into a spreadsheet, pandas or a paper?
-- `mr.results` reads the store, also while the sweep runs; results go out as CSV, Markdown and LaTeX. The store itself is an SQLite file, which
-- other programs read as it is: see the page on files.
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
