-- Names the test and the correction behind p-values, for lines at tables of comparisons.
local M = {}

local tests = { permutation = "paired permutation test", wilcoxon = "Wilcoxon's signed-rank test",
  paired_t = "paired t-test" }
local corrections = { holm = "Holm", bonferroni = "Bonferroni", none = "no correction" }

---Returns the names of a test and of a correction in words.
---@param test "permutation"|"wilcoxon"|"paired_t"
---@param correction "holm"|"bonferroni"|"none"
---@return string test
---@return string correction
---Example: `require("moonrank.compare.tested").words("paired_t", "holm")   --> paired t-test, Holm`
function M.words(test, correction) return tests[test], corrections[correction] end

---Returns the line below a table with the columns "p" and "p corrected".
---Example: `require("moonrank.compare.tested").line("paired_t", "holm")   --> p: paired t-test; p corrected: Holm`
function M.line(test, correction) return ("p: %s; p corrected: %s"):format(M.words(test, correction)) end

return M
