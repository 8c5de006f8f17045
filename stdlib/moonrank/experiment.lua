-- mr.experiment: scripts whose training runs are kept in a store and read like the experiment section of a paper:
-- question, data, models, protocol, result. Functions for the command line and the data of such a script, for studies
-- (named sets of training runs) that are completed where runs are missing, for the results of lists and folds, for a
-- table that compares settings, and for the end of the script, which prints tables, text and figure.
local M = {}

for _, part in ipairs{ "options", "studies", "values", "tuned", "cells", "tables", "paired", "compared", "finish",
  "data", "cost" } do
  for name, value in pairs(require("moonrank.experiment." .. part)) do M[name] = value end
end

return M
