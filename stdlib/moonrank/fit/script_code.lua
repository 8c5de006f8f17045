-- The functions of a script that a training computes with, as a text by which checkpoints are compared. The text has
-- the tokens of the functions in model, loss, bounds, schedule and metrics, and the values that they captured. The
-- function each_epoch and the rest of the script do not count.
local code = require "moonrank.sweep.code"
local definitions = require "moonrank.definitions"

local M = {}

-- Definitions of the script whose names occur in these settings.
local function defined_in(settings)
  local found = {}
  for key, what in pairs(definitions.all) do
    local word = "%f[%w_]" .. key:match "%S+$" .. "%f[^%w_]"
    for _, text in pairs(settings) do found[key] = text:find(word) and what or found[key] end
  end
  return found
end

-- True if a path leads to a global, or to a value that one of these functions captured.
local function is_captured(path, functions)
  if path:find "^global%." then return true end
  for _, f in ipairs(functions) do
    if path:sub(1, #f) == f and path:find("^[%.%[ ]", #f + 1) then return true end
  end
  return false
end

---Returns the text of the script's functions; empty if none is used. The library's own objects
---around these functions do not count, because their caches change.
---@param plan mr.fit.Plan
---@param settings table<string, string>   texts of the settings, by name
---@param formerly? boolean                 with former names of options, as earlier versions wrote it
---@return string
function M.of(plan, settings, formerly)
  local objects = { clip = plan.clip, loss = plan.loss, metrics = plan.selection.measured, model = plan.model,
    optimizer = plan.optimizer, schedule = plan.schedule }
  local text = code.of({ defined = defined_in(settings), objects = objects }, nil, nil, formerly)
  local functions, lines = {}, { text:match "^[^\n]*" }
  for line in text:gmatch "\n([^\n]+)" do
    local kind, path = line:match "^(%a+) (.-)\t"
    local is_part = path and (path:find "^run%f[%W]" or path:find "^global%.")  -- other definitions and modules are not
    if is_part and kind == "function" then functions[#functions + 1] = path end
    local counts = is_part and (kind == "function" or kind ~= "unseen" and is_captured(path, functions))
    if counts then lines[#lines + 1] = line end
  end
  return #functions > 0 and table.concat(lines, "\n") or ""
end

---Returns lines that say what changed from one text to another, one per change; nil if nothing
---changed.
---@param was string
---@param now string
---@param formerly? fun(): string  makes that text with former names of options, as earlier versions wrote it
---@return string?
function M.changes(was, now, formerly)
  local changed = was ~= now and code.changes(was, now, formerly)
  if not changed then return nil end
  return (changed:gsub('run%.defined%["(.-)"%]', "%1"):gsub("run%.objects%.", ""))
end

return M
