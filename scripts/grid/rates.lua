-- Learning rates of the grid by setting and loss, as chosen on validation: the first lines of what
-- `moonrank scripts/grid/learning_rates.lua` prints.
local M = {}

return M
