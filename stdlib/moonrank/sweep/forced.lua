-- The column `forced` of a study in the store: a bit mask of the fields (code, data, ...) that had changed when the
-- study was continued with `force = true`. In all functions, `study` is the study's row in the store.
local M = {}

-- The bits of a study's column `forced`. A field's bit is set if the study was continued with `force = true` although
-- this field had changed. Stores contain these bits, so a field's bit must never change.
local bits = { space = 1, script = 2, settings = 4, data = 8, sampler = 16, seed = 32, direction = 64, metric = 128,
  ["form of the recorded code"] = 256 }
local order = { "script", "form of the recorded code", "settings", "data", "metric", "space", "sampler", "seed",
  "direction" }

-- Returns the bit mask in a study's column `forced`; 0 if it is not an integer, as SQLite does not enforce types.
local function sum_of(study) return math.type(study.forced) == "integer" and study.forced or 0 end

---Returns true if a study was continued with `force = true` although the field had changed.
---@param field string  "space", "script", ...
---Example: `require("moonrank.sweep.forced").has({forced = 3}, "script")   --> true`
function M.has(study, field) return sum_of(study) & bits[field] ~= 0 end

---Returns true if trials of a study have results. Reports of paused trials count: they decide what continues.
function M.has_results(store, study)
  return store:columns([[SELECT count(*) AS n FROM trials WHERE study = ?1 AND (state IN ('done', 'pruned')
    OR state = 'paused' AND EXISTS (SELECT 1 FROM reports WHERE reports.trial = trials.id))]], study.id).n[1] > 0
end

---Adds to a study's row that it is continued with `force = true` although some fields changed. If no trial has a result
---yet, only a change of the space is added. Nothing is written to the store.
---@param fields string[]  names of the changed fields: "space", "script", ...
function M.mark(store, study, fields)
  local sum, has_results = sum_of(study), M.has_results(store, study)
  for _, field in ipairs(fields) do
    if has_results or field == "space" then sum = sum | bits[field] end
  end
  study.forced = sum
end

---Like `mark`, and writes the mark to the store.
---@param fields string[]
function M.note(store, study, fields)
  M.mark(store, study, fields)
  store:set(study, "forced")
end

---Returns the line below tables that says what had changed when a study was continued with `force = true`, or nil.
---Example: `require("moonrank.sweep.forced").line({forced = 2}):match "change of (.+) are"   --> script`
function M.line(study)
  local names = {}
  for _, field in ipairs(order) do names[#names + 1] = M.has(study, field) and field or nil end
  if #names == 0 then return nil end
  return ("forced (force = true): trials from before and after a change of %s are mixed"):format(
    table.concat(names, ", "))
end

return M
