-- mr.experiment helps to write scripts that keep their training runs in a store and read like the experiment section of
-- a paper: question, data, models, protocol, result. It has functions for the command line and the data of a script.
-- Studies (named sets of training runs) are completed where runs are missing. Other functions read results of lists and
-- folds, compare settings in a table, and print tables, text and figure at the end of the script.
local M = {}

for _, part in ipairs{ "options", "studies", "values", "tuned", "cells", "tables", "paired", "compared", "finish",
  "data", "cost", "agreement", "beside" } do
  for name, value in pairs(require("moonrank.experiment." .. part)) do M[name] = value end
end

return M
