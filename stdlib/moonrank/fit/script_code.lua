-- Returns the script's functions that a training computes with, as a text. When a training resumes, this text is
-- compared with the text in the checkpoint. The text has the tokens of the functions in model, loss, bounds, schedule
-- and metrics, and the values that these functions captured. Other code of the script, and the function each_epoch, are
-- not included.
local code = require "moonrank.sweep.code"
local definitions = require "moonrank.system.definitions"

local M = {}

-- Returns the metrics, losses, bounds and models that the script defined and whose names occur in `settings`.
local function defined_in(settings)
  local found = {}
  for key, what in pairs(definitions.all) do
    local word = "%f[%w_]" .. key:match "%S+$" .. "%f[^%w_]"
    for _, text in pairs(settings) do found[key] = text:find(word) and what or found[key] end
  end
  return found
end

-- Returns true if `path` begins with a global variable, or with a value that one of the `functions` captured.
local function is_captured(path, functions)
  if path:find "^global%." then return true end
  for _, f in ipairs(functions) do
    if path:sub(1, #f) == f and path:find("^[%.%[ ]", #f + 1) then return true end
  end
  return false
end

---Returns the script's functions that the training uses (tokens and captured values) as text; "" if it uses none.
---Moonrank's objects that hold these functions are left out, because their caches change.
---@param former? mr.sweep.Former  write options with former names
function M.of(plan, settings, former)
  local objects = { clip = plan.clip, loss = plan.loss, metrics = plan.selection.measured, model = plan.model,
    optimizer = plan.optimizer, schedule = plan.schedule }
  local text = code.of({ defined = defined_in(settings), objects = objects }, nil, nil, former)
  local functions, lines = {}, { text:match "^[^\n]*" }
  for line in text:gmatch "\n([^\n]+)" do
    local kind, path = line:match "^(%a+) (.-)\t"
    -- `text` has a line for each function and value that the training can reach. Lines are compared if they have a
    -- function that is reached from `run` (model, loss, ...) or from a global variable, a value that such a function
    -- captured, or the value of a global variable. Lines about Moonrank's modules are not compared.
    local is_part = path and (path:find "^run%f[%W]" or path:find "^global%.")
    if is_part and kind == "function" then functions[#functions + 1] = path end
    local counts = is_part and (kind == "function" or kind ~= "unseen" and is_captured(path, functions))
    if counts then lines[#lines + 1] = line end
  end
  return #functions > 0 and table.concat(lines, "\n") or ""
end

---Compares two texts that `of` returned. Returns one line per change that says what changed; nil if nothing changed.
---@param before? fun(former: mr.sweep.Former): string  makes the text `now` with former names of options
function M.changes(was, now, before)
  local changed = was ~= now and code.changes(was, now, before)
  if not changed then return nil end
  changed = changed:gsub('run%.defined%["(.-)"%]', "%1"):gsub("run%.objects%.", "")
  -- a bound that is a script's function is kept in these fields of the loss; messages call it ".bound"
  return (changed:gsub("%.options%.bound%.apply%.apply%.f%f[^%w_]", ".bound"))
end

return M
