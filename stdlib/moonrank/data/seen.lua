-- Records which datasets a trial of a sweep uses. mr.fit, mr.evaluate and dataset:batches report each dataset here.
local check = require "moonrank.check"
local fingerprint = require "moonrank.data.fingerprint"

local M = {}

-- Largest number of recorded datasets that a trial used outside of mr.fit (role "other"). The limit exists because a
-- script may evaluate every batch.
local most = 64

---A dataset that a trial used.
---@class mr.data.Entry
---@field role string         "train", "valid" or "test" for data of mr.fit, else "other"
---@field fingerprint string  data fingerprint; "unknown" for data of a class that the script defined
---@field what string         description: number of lists and rows

local record = false

local function words_of(data)
  local lists = type(data) == "userdata" and data or data.lists
  local ok, words = check.attempt(function() return ("%d lists, %d rows"):format(lists.count, lists.rows) end)
  return ok and words or "data of a class that the script defined"
end

-- Error value that ends a trial early, if the trial was run only to find out which datasets it uses.
local Enough = setmetatable({}, { __name = "mr.data.Enough", __tostring = function() return "its data were seen" end })

---Begins to record which datasets a trial uses, until `finish` is called. With `stop`, an error ends the trial: when
---mr.fit begins ("fit"), or at the first use of any dataset ("any").
---@param stop? "fit"|"any"
function M.begin(stop) record = { entries = {}, by_key = {}, others = 0, stop = stop or false } end

---Returns true if `message` is the error value that ended a trial because `begin` was called with the option `stop`.
function M.is_enough(message) return message == Enough end

---Returns true between `begin` and `finish`, while the datasets that a trial uses are recorded.
function M.listening() return record ~= false end

---Records that the trial uses the dataset or lists `data`. Does nothing unless `begin` was called.
---@param role string  "train", "valid", "test" or "other"
---@param data any  mr.Dataset or mr.Lists
function M.note(role, data)
  if not record or not data then return end
  local sum = fingerprint.of(data) or "unknown"
  local key = role .. " " .. sum
  if not record.by_key[key] and (role ~= "other" or record.others < most) then
    record.by_key[key] = true
    if role == "other" then record.others = record.others + 1 end
    record.entries[#record.entries + 1] = { role = role, fingerprint = sum, what = words_of(data) }
  end
  if record.stop == "any" and role == "other" then error(Enough, 0) end
end

-- Returns the dataset inside an mr.data.Candidates, because mr.fit reads both; nil for other data, and for a dataset
-- without a fingerprint.
local function part_under(data)
  local part = type(data) == "table" and check.field(data, "data")
  return part and fingerprint.of(part) and part or nil
end

---Records the train, valid and test data of a call of mr.fit, and returns their fingerprints.
---@param parts table<string, any>  train, valid and test
---@return table<string, string> data  fingerprints by role
function M.note_fit(parts)
  local data = {}
  for _, role in ipairs{ "train", "valid", "test" } do
    if parts[role] then
      M.note(role, parts[role])
      M.note(role, part_under(parts[role]))
      data[role] = fingerprint.of(parts[role])
    end
  end
  if record and record.stop then error(Enough, 0) end
  return data
end

---Ends the recording and returns the datasets that the trial used. A dataset that mr.fit used as
---train, valid or test is not listed again with the role "other".
---@return mr.data.Entry[]
function M.finish()
  local named, entries = {}, {}
  for _, each in ipairs(record.entries) do
    if each.role ~= "other" then named[each.fingerprint] = true end
  end
  for _, each in ipairs(record.entries) do
    if each.role ~= "other" or not named[each.fingerprint] then entries[#entries + 1] = each end
  end
  record = false
  return entries
end

return M
