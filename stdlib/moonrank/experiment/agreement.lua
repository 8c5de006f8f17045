-- Counts how many numbers of an experiment agree with printed ones.
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"
local sentences = require "moonrank.experiment.sentences"

local M = {}

local agreement_options = declare("mr.experiment.AgreementOptions", {
  { "fields", "string[]", required = true,
    help = 'fields of a record with a number; the field "NAME, printed" has the printed number' },
  { "share", "number", above = 0, below = 1, excludes = { difference = true }, required_without = "difference",
    help = "largest difference that counts as none, as a share of the printed number" },
  { "difference", "number", least = 0, help = "largest difference that counts as none" },
})

---Compares numbers of records with the printed ones beside them. Returns how many are compared (`of`),
---how many are near the printed ones (`within`), what counts as near (`tolerance`, such as "3 %" or
---"0.005"), and a sentence with these numbers (`text`). A number can be `{mean, low, high}`, as from
---`mr.experiment.mean`. A number without a printed one is left out. Returns nil if nothing is printed.
---The result is for the field `agreement` of a section (`mr.experiment.finish`).
---@param records table[]  rows of a table, by field
---@param o mr.experiment.AgreementOptions
---@return { of: integer, within: integer, tolerance: string, text: string }?
---Example:
---```lua
---local records = {{ndcg = 0.52, ["ndcg, printed"] = 0.5}, {ndcg = 0.61, ["ndcg, printed"] = 0.6}, {ndcg = 0.7}}
---local found = mr.experiment.agreement(records, {fields = {"ndcg"}, share = 0.03})
---found.of, found.text   --> 2, Of 2 printed numbers 1 is met within 3 %.
---```
function M.agreement(records, o)
  given.array("agreement", "records", records, "table", "records")
  o = agreement_options:read("mr.experiment.agreement", o)
  local found = { of = 0, within = 0, tolerance = o.share and ("%g %%"):format(100 * o.share)
    or ("%g"):format(o.difference) }
  for _, record in ipairs(records) do
    for _, field in ipairs(o.fields) do
      local value, printed = record[field], record[field .. ", printed"]
      if type(value) == "table" then value = value[1] end
      if value and printed then
        value = given.number("agreement", field, value)
        printed = given.number("agreement", field .. ", printed", printed)
        local most = o.share and o.share * math.abs(printed) or o.difference
        found.of, found.within = found.of + 1, found.within + (given.is_near(value - printed, most) and 1 or 0)
      end
    end
  end
  found.text = ("Of %d printed numbers %s met within %s."):format(found.of, sentences.are(found.within),
    found.tolerance)
  return found.of > 0 and found or nil
end

return M
