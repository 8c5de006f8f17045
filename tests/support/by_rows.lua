-- For tests of deferred optimizer updates: trains a small parameter of which each step gives a gradient to a few rows
-- only. Has the rows of each step, the gradients, and the optimizers to test.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = {}

local f64 = { dtype = "float64" }
local function index(t) return mr.tensor(t, { dtype = "int64" }) end
local n, width = 24, 5

local function start(dtype)
  return mr.normal({ n, width }, { seed = 1, dtype = "float64" }):to(dtype or "float64"):detach():requires_grad()
end

-- Returns the rows with a gradient in a step. Rows 2 to 6 get one after 0, 1, 2, 33 and 1000 steps without, rows from 7
-- on by chance, and row 1 never.
local periods = { [2] = 1, [3] = 2, [4] = 3, [5] = 34, [6] = 1001 }
local function rows_of(step)
  local rows = {}
  for row, period in pairs(periods) do
    if step % period == 0 then rows[#rows + 1] = row end
  end
  for row = 7, n do
    if math.random() < 1 / (row - 6) ^ 2 then rows[#rows + 1] = row end
  end
  return rows
end

-- Returns log-normally distributed gradients with random signs, times a factor for each row.
local scales = { 1, 1e-3, 1e-6, 1e-8 }
local function gradients(step, rows, scale)
  local spread = mr.normal({ #rows, width }, { seed = step, stream = "spread", dtype = "float64" })
  local sign = mr.normal({ #rows, width }, { seed = step, stream = "sign", dtype = "float64" })
  local by_row = {}
  for i, row in ipairs(rows) do by_row[i] = { scale or scales[row % 4 + 1] } end
  if #rows == 0 then return sign end
  return spread:exp() * sign * mr.tensor(by_row, f64)
end

-- Does one optimizer step, on a gradient with only these rows, or (`dense`) on a full gradient that is 0 in other rows.
local function step_of(p, optimizer, rows, g, dense)
  optimizer:zero_grad()
  g = g:to(p.dtype)
  if dense then
    (p * core.put_rows(g, index(rows), n)):sum():backward()
  else
    (p:rows(index(rows)) * g):sum():backward()
  end
  optimizer:step()
end

local cases = {
  { "adam", { lr = 0.01 } }, { "adam", { lr = 0.01 }, decaying = true },
  { "adam", { lr = 0.01, beta1 = 0.5, beta2 = 0.9, epsilon = 1e-3 } },
  { "adam", { lr = 0.01, beta1 = 0.97, beta2 = 0.999, epsilon = 1e-5 }, decaying = true },
  { "adam", { lr = 0.01, beta1 = 0 } },
  { "adam", { lr = 0.01, beta1 = 0.85, beta2 = 0.95, epsilon = 1e-4 }, scale = 1e-3 },
  -- momentum decays more slowly than the mean of squares: updates are not deferred
  { "adam", { lr = 0.001, beta1 = 0.9, beta2 = 0.8 } },
  -- updates are not deferred here either: a deferred update would be a sum of growing terms
  { "adam", { lr = 0.01, beta1 = 0.7, beta2 = 0.5 } },
  { "adam", { lr = 0.01, beta1 = 0.887, beta2 = 0.8, epsilon = 1e-2 }, scale = 1e-6 },
  { "sgd", { lr = 0.001, momentum = 0.9 }, scale = 0.1 },
  { "sgd", { lr = 0.001, momentum = 0.5 }, decaying = true, scale = 0.1 },
  -- a deferred update would be a sum of too many terms
  { "sgd", { lr = 0.001, momentum = 0.998 }, decaying = true, scale = 0.01 },
  { "sgd", { lr = 0.01, weight_decay = 0.1 }, decaying = true, scale = 0.1 },
  { "sgd", { lr = 0.1, weight_decay = 10 }, scale = 0.1 }, -- lr * weight_decay = 1: one step sets a row to 0
  -- lr * weight_decay = 1.5: one step changes the sign of a row
  { "sgd", { lr = 0.01, weight_decay = 150 }, scale = 0.1 },
  { "sgd", { lr = 0.001, momentum = 0.9, weight_decay = 0.1 }, decaying = true, scale = 0.1 },
  { "sgd", { lr = 0.001, momentum = 0.99, weight_decay = 20 }, scale = 0.1 }, -- swings
  { "adamw", { lr = 0.01, weight_decay = 0.1 } },
  { "adamw", { lr = 0.01, weight_decay = 1 }, decaying = true },
  { "adamw", { lr = 0.01, weight_decay = 50 } },
  { "adamw", { lr = 0.01, weight_decay = 200 } }, -- one step changes the sign of a row: updates are not deferred
  { "adamw", { lr = 0.01, beta1 = 0.97, beta2 = 0.999, epsilon = 1e-5, weight_decay = 0.1 }, decaying = true },
  { "adamw", { lr = 0.01, beta1 = 0, weight_decay = 0.1 } },
  { "adamw", { lr = 0.01, epsilon = 1e-25, weight_decay = 0.1 } },
  { "rmsprop", { lr = 0.001 }, decaying = true },
  { "rmsprop", { lr = 0.001, alpha = 0 } },
  { "rmsprop", { lr = 0.001, momentum = 0.9 }, decaying = true },
  { "rmsprop", { lr = 0.0001, momentum = 0.998 } },
}


M.rows, M.width, M.cases = n, width, cases
M.index, M.start, M.rows_of, M.gradients, M.step_of = index, start, rows_of, gradients, step_of

return M
