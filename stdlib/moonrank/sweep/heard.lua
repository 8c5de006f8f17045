-- Writes what running trials report to the store, at most once per second, so that readers can follow them. The end of
-- a trial replaces these rows. Sweeps with a pruner do not write them: a sweep that is killed and resumed would take
-- them for reports at which the pruner decided.
local check = require "moonrank.check"
local core = require "moonrank.core"

local M = {}

local pause <const> = 1.0  -- seconds between two writes of trials' reports to the store

---@class mr.sweep.Heard
local Heard = check.class("mr.sweep.Heard")

---Makes an object that writes the reports of a study's running trials to the store.
function M.new(store, study)
  return setmetatable({ store = store, study = study, unwritten = {}, at = core.clock() }, Heard)
end

local function write(self)
  for number, reports in pairs(self.unwritten) do
    local id = self.store:columns("SELECT id FROM trials WHERE study = ?1 AND number = ?2", self.study.id, number).id[1]
    -- a killed earlier attempt of this trial may have stored reports from the first new step on
    self.store:columns("DELETE FROM reports WHERE trial = ?1 AND step >= ?2", id, reports[1].step)
    self.store:add_reports(id, reports)
  end
end

---Adds a report of a running trial. If a second has passed since the last write, all reports added since then are
---written to the store. A store that cannot be written is not an error, because the end of the trial writes all its
---reports.
---@param report { step: integer, values: table<string, number> }
function Heard:add(number, report)
  self.unwritten[number] = self.unwritten[number] or {}
  table.insert(self.unwritten[number], report)
  local now = core.clock()
  if now - self.at < pause then return end
  check.attempt(self.store.transaction, self.store, write, self)
  self.unwritten, self.at = {}, now
end

---Forgets the unwritten reports of a trial that has ended.
function Heard:forget(number) self.unwritten[number] = nil end

return M
