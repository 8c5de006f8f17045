-- Writes the trials of a study to a journal of Optuna, which optuna-dashboard shows: a file with a JSON object in each
-- line (JournalFileBackend of Optuna 4 and 5). Lines are only added, so that a running dashboard can follow the file.
-- Lines about a trial name it by its id, which is the number of lines before it in the journal that create a trial.
-- Other programs may add trials at any time, so the id of a new trial is known after reading the journal again.
-- Source: optuna/storages/journal/_storage.py, JournalStorageReplayResult.
local core = require "moonrank.core"
local check = require "moonrank.check"
local described = require "moonrank.sweep.search.described"
local frame = require "moonrank.sweep.frame"

local M = {}

local create_study <const>, delete_study <const>, create_trial <const> = 0, 1, 4
local set_user_attribute <const>, set_system_attribute <const> = 2, 3
local set_state <const>, set_report <const>, set_trial_attribute <const> = 6, 7, 8
local states <const> = { done = 1, pruned = 2, failed = 3, killed = 3 }
local running <const>, failed <const> = 0, 3
local writer <const> = "moonrank"
-- Reports are written at once, but after `burst` writes only every `pause` seconds. So frequent reports do not slow a
-- sweep.
local burst <const>, pause <const> = 20, 0.005
-- name of the attribute that a sweep writes to its study in the journal, to find the study again
local mark <const> = "moonrank_study"

---@class mr.sweep.Journal
---@field path string
---@field private sum string  identifies the study in the store
---@field private offset integer  number of bytes of the file that were read
---@field private names table<integer, string>  names of the journal's studies by their id
---@field private next_study integer  id of the next study
---@field private next_trial integer  id of the next trial
---@field private own integer|false  id of this study; false if the journal lacks it
---@field private added table<integer, table>  id and state of this study's trials in the journal, by their number
---@field private running table<integer, table>  the entries of `added` whose state is running, by their id
---@field private live table<integer, table>  what was written of running trials' reports, by the number of the trial
---@field private pending string[]  lines that were not written to the file yet
---@field private credit number  how many times reports may be written now
---@field private at number  time at which `credit` was computed
local Journal = check.class("mr.sweep.Journal")

-- Returns a text as JSON in ASCII, as Python's json.dumps writes it. Names are compared in this form.
local function quoted(text)
  local function escaped(char)
    local code = utf8.codepoint(char)
    if code < 0x10000 then return frame.escapes[char] or ("\\u%04x"):format(code) end
    return ("\\u%04x\\u%04x"):format(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff))
  end
  return '"' .. text:gsub('["\\\0-\31]', escaped):gsub("[\xc2-\xfd][\x80-\xbf]*", escaped) .. '"'
end

-- Returns a number, text or boolean as JSON, with NaN and Infinity, which Python's JSON reader accepts.
local function scalar(value)
  if type(value) == "string" then return quoted(value) end
  if math.type(value) ~= "float" then return tostring(value) end
  if value ~= value then return "NaN" end
  if not check.is_finite(value) then return value > 0 and "Infinity" or "-Infinity" end
  local text = ("%.17g"):format(value)
  return text:find "[.e]" and text or text .. ".0"
end

-- Returns a JSON object as text. Each of `rows` is a pair of a name and the JSON text of its value.
local function object(rows)
  local parts = {}
  for i, row in ipairs(rows) do parts[i] = quoted(row[1]) .. ":" .. row[2] end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function line_of(code, rows)
  table.insert(rows, 1, { "op_code", scalar(code) })
  table.insert(rows, 2, { "worker_id", quoted(writer) })
  return object(rows) .. "\n"
end

-- Returns the choices of a parameter in the form of Optuna's distribution, and the index of a value among them, counted
-- from 0. A value that is not among the choices is added at their end.
local function choice_of(part, value)
  local texts, index = {}, nil
  for i, choice in ipairs(part and part.choices or {}) do
    texts[i] = scalar(choice)
    if choice == value then index = i - 1 end
  end
  if not index then texts[#texts + 1], index = scalar(value), #texts end
  return { { "name", quoted "CategoricalDistribution" },
    { "attributes", object{ { "choices", "[" .. table.concat(texts, ", ") .. "]" } } } }, index
end

-- Returns a parameter's distribution (range or choices) in Optuna's form, and its value in a trial as a number, which
-- for choices is an index.
local function distribution_of(part, value)
  if not part or part.kind == "choice" or type(value) ~= "number" then return choice_of(part, value) end
  local whole = (part.kind == "range" or part.kind == "integer") and math.type(value) == "integer"
  local step = whole and scalar(part.step or 1) or "null"
  local function number(x) return scalar(whole and math.tointeger(x) or x + 0.0) end
  return { { "name", quoted(whole and "IntDistribution" or "FloatDistribution") },
    { "attributes", object{ { "log", scalar(part.log) }, { "step", step }, { "low", number(part.low) },
      { "high", number(part.high) } } } }, value
end

-- Converts a time in the store, such as "2026-11-27 01:02:03" in UTC, to the form of time that Optuna writes.
local function time_of(text) return text and quoted(text:gsub(" ", "T") .. ".000000+00:00") or "null" end

-- Returns JSON objects of the distributions and of the values of a trial's parameters, both by name.
local function parameters_of(space, trial)
  local distributions, values = {}, {}
  for i, name in ipairs(check.names(trial.params)) do
    local rows, value = distribution_of(space[name], trial.params[name])
    distributions[i], values[i] = { name, quoted(object(rows)) }, { name, scalar(value) }
  end
  return object(distributions), object(values)
end

-- Returns the attributes of a trial that is running, as pairs of a name and the JSON text of its value.
local function identity_of(trial) return { { "trial", scalar(trial.number) }, { "seed", scalar(trial.seed) } } end

-- Returns the attributes of a trial that has ended, as pairs like those of identity_of: its returned numbers without
-- the study's metric, and why it ended early.
local function attributes_of(self, trial)
  local rows, metric = {}, self.study.metric or "value"
  local numbers = self.store:rows("SELECT name, value FROM numbers WHERE trial = ?1 ORDER BY name", trial.id)
  for _, each in ipairs(numbers) do
    local is_finite = each.value and check.is_finite(each.value)
    if each.name ~= "trial" and each.name ~= "seed" and each.name ~= metric then
      rows[#rows + 1] = { each.name, is_finite and scalar(each.value) or quoted(tostring(each.value or "nan")) }
    end
  end
  if trial.reason then rows[#rows + 1] = { "reason", quoted(core.safe_text(trial.reason, true)) } end
  return rows
end

-- Returns a trial's reports as pairs of a step and the JSON text of its value: those of the study's metric, or of the
-- only reported number. Leaves out the reports in `live`, which are in the journal already.
local function reports_of(self, trial, live)
  local by_name, names, rows = {}, {}, {}
  for _, row in ipairs(self.store:rows("SELECT name, step, value FROM reports WHERE trial = ?1 ORDER BY step",
    trial.id)) do
    if not by_name[row.name] then by_name[row.name], names[#names + 1] = {}, row.name end
    table.insert(by_name[row.name], { ("%d"):format(row.step), scalar(row.value or 0 / 0) })
  end
  local found = live.name and by_name[live.name] or by_name[self.study.metric or "value"]
    or #names == 1 and by_name[names[1]]
  for _, row in ipairs(found or {}) do
    if not live.steps[row[1]] then rows[#rows + 1] = row end
  end
  return rows
end

-- Returns a trial's state in Optuna; nil if it has not ended. A trial without a value has failed there, because Optuna
-- requires a value.
local function state_of(trial)
  local state = states[trial.state]
  return state == states.done and not trial.value and failed or state
end

local function value_of(trial, state) return trial.value and state ~= failed and scalar(trial.value) end

local function refuse() check.fail "the study was deleted from the journal, or the file was replaced" end

-- Returns the line that adds a trial to the journal, running or ended.
local function trial_line(self, trial, state)
  if not self.own then refuse() end
  local distributions, params = parameters_of(self.space, trial)
  local attributes, reports, rows = identity_of(trial), {}, {
    { "study_id", scalar(self.own) }, { "datetime_start", time_of(trial.started) },
  }
  if state ~= running then
    for _, row in ipairs(attributes_of(self, trial)) do attributes[#attributes + 1] = row end
    reports = reports_of(self, trial, { steps = {} })
    rows[#rows + 1] = { "datetime_complete", time_of(trial.ended or trial.started) }
  end
  for _, row in ipairs{ { "state", scalar(state) },
    { "value", state ~= running and value_of(trial, state) or "null" }, { "values", "null" },
    { "distributions", distributions }, { "params", params }, { "user_attrs", object(attributes) },
    { "system_attrs", "{}" }, { "intermediate_values", object(reports) } } do
    rows[#rows + 1] = row
  end
  return line_of(create_trial, rows)
end

local report_format <const> = ('{"op_code":%d,"worker_id":"%s",'):format(set_report, writer)
  .. '"trial_id":%d,"step":%s,"intermediate_value":%s}\n'
-- Returns the line of a report: a pair of a step and a value's JSON text. It has the form of line_of, but is made
-- without it, to take less time, because trials may report often.
local function report_line(id, row) return report_format:format(id, row[1], row[2]) end

-- Adds the lines that end a running trial of the journal, with its entry, to the pending lines.
local function end_trial(self, trial, entry, state)
  local lines, id = self.pending, entry.id
  for _, row in ipairs(reports_of(self, trial, self.live[trial.number] or { steps = {} })) do
    lines[#lines + 1] = report_line(id, row)
  end
  for _, row in ipairs(attributes_of(self, trial)) do
    lines[#lines + 1] = line_of(set_trial_attribute, { { "trial_id", scalar(id) }, { "user_attr", object{ row } } })
  end
  local value = value_of(trial, state)
  lines[#lines + 1] = line_of(set_state, { { "trial_id", scalar(id) }, { "state", scalar(state) },
    { "values", value and "[" .. value .. "]" or "null" },
    { "datetime_complete", time_of(trial.ended or trial.started) } })
  entry.state, self.running[id] = state, nil
end

-- Checks that a file is a journal, if it exists, and that it has no damaged line: Optuna could not read such a file. An
-- incomplete last line, which a process that was killed leaves behind, is removed from the file.
local function repair(path, caller)
  if not core.file_exists(path) then return end
  core.check_file(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read "a"
  if text ~= "" and not text:find '^{"op_code":' then
    check.fail("%s: the file %s is not a journal of Optuna. Pass another path", caller, path)
  end
  local whole = text:match "^.*\n" or ""
  local number = 0
  for line in whole:gmatch "([^\n]*)\n" do
    number = number + 1
    if not line:find '^{"op_code":%d+,.*}$' then
      check.fail("%s: line %d of the journal %s is damaged: '%s'. Remove this line, or pass another path", caller,
        number, path, core.safe_text(line:sub(1, 40)))
    end
  end
  if whole ~= text then core.write_file(path, whole) end
end

-- Returns the name of the study in a line of the journal, as JSON text with its quotes; nil if there is none.
local function name_in(line)
  local first = select(2, line:find '"study_name":"')
  local at = first and first + 1
  while at and at <= #line do
    local c = line:sub(at, at)
    if c == '"' then return line:sub(first, at) end
    at = at + (c == "\\" and 2 or 1)
  end
end

local function name_taken(self, name)
  for id, each in pairs(self.names) do
    if each == name then return id end
  end
end

-- Functions that apply a line of the journal to this object's ids of studies and trials, by the line's code.
local apply = {}

apply[create_study] = function(self, line)
  local name = name_in(line)
  if not name or name_taken(self, name) then return end
  self.names[self.next_study], self.next_study = name, self.next_study + 1
end

apply[delete_study] = function(self, _, id)
  self.names[id] = nil
  if id == self.own then self.own, self.added, self.running = false, {}, {} end
end

apply[set_user_attribute] = function(self, line, id)
  if self.names[id] and line:find(('"%s":"%s"'):format(mark, self.sum), 1, true) then self.own = id end
end

apply[create_trial] = function(self, line, id)
  if not self.names[id] then return end
  local trial = self.next_trial
  self.next_trial = trial + 1
  if id ~= self.own or not line:find(('"worker_id":"%s"'):format(writer), 1, true) then return end
  local state, number = line:match '"state":(%d).-"user_attrs":{"trial":(%d+)'
  if not number then return end
  local entry = { id = trial, state = tonumber(state) }
  self.added[tonumber(number)] = entry
  if entry.state == running then self.running[trial] = entry end
end

apply[set_state] = function(self, line)
  local id, state = line:match '"trial_id":(%d+).-"state":(%d)'
  local entry = self.running[tonumber(id)]
  if not entry then return end
  entry.state = tonumber(state)
  if entry.state ~= running then self.running[tonumber(id)] = nil end
end

-- Reads the whole lines that were added to the file since the last call, by this or another process.
local function look(self)
  if not core.file_exists(self.path) then return end
  local file <close> = assert(io.open(self.path, "rb"))
  file:seek("set", self.offset)
  local text = file:read "a":match "^.*\n" or ""
  self.offset = self.offset + #text
  for line in text:gmatch "[^\n]+" do
    local act = apply[tonumber(line:match '^{"op_code":(%d+)')]
    if act then act(self, line, tonumber(line:match '"study_id":(%d+)')) end
  end
end

-- Adds lines to the file in one write, so that a reader never sees a part of a line in the middle.
local function append(path, text)
  local file <close> = assert(io.open(path, "ab"))
  file:setvbuf("full", #text + 1)
  assert(file:write(text))
  assert(file:flush())
end

---Opens the journal of a study, which a sweep may be running, and adds the study if the file lacks it. It is an error
---if the file is not a journal, if it has another study of this name, or if another process adds trials to it.
---@param caller string  name of the function that the user called, for errors
function M.open(caller, path, store, study)
  core.make_folder(path)
  local lock = core.lock_file(path .. ".moonrank")
  if not lock then
    check.fail("%s: another process adds trials to %s now. Wait until it ends, or pass another path", caller, path)
  end
  repair(path, caller)
  local self = setmetatable({ path = path, store = store, study = study, space = described.read(study.space),
    lock = lock, sum = core.sha256(study.name .. "\0" .. study.created):sub(1, 16), offset = 0, names = {},
    next_study = 0, next_trial = 0, own = false, added = {}, running = {}, live = {}, pending = {},
    credit = burst, at = core.clock() }, Journal)
  look(self)
  local there = name_taken(self, quoted(study.name))
  if there and there ~= self.own then
    check.fail("%s: %s has a study '%s' of another sweep or program. Pass another path", caller, path,
      core.safe_text(study.name))
  end
  if not there then
    local id, metric = { "study_id", scalar(self.next_study) }, study.metric or "value"
    local direction = study.direction == "minimize" and "[1]" or "[2]"
    append(path, line_of(create_study, { { "study_name", quoted(study.name) }, { "directions", direction } })
      .. line_of(set_user_attribute, { id, { "user_attr", object{ { mark, quoted(self.sum) } } } })
      .. line_of(set_system_attribute,
        { id, { "system_attr", object{ { "study:metric_names", "[" .. quoted(metric) .. "]" } } } }))
    look(self)
  end
  return self
end

local function write_pending(self)
  if #self.pending == 0 then return end
  local text = table.concat(self.pending)
  self.pending = {}
  append(self.path, text)
end

---Writes the pending lines to the file, unless this was called very often just now.
function Journal:flush()
  if #self.pending == 0 then return end
  local now = core.clock()
  self.credit, self.at = math.min(burst, self.credit + (now - self.at) / pause), now
  if self.credit < 1 then return end
  self.credit = self.credit - 1
  write_pending(self)
end

---Adds a trial that begins, as a running trial. A trial that the journal already has as running goes on there.
---@param number integer
function Journal:begin(number)
  local entry = self.added[number]
  if not entry or entry.state ~= running then
    table.insert(self.pending, trial_line(self, self.store:trials(self.study, number)[number], running))
    write_pending(self)
    look(self)
    entry = self.added[number]
    if not entry or entry.state ~= running then refuse() end
  end
  self.live[number] = { id = entry.id, name = nil, steps = {} }
end

---Adds a report of a running trial to the pending lines: its value of the study's metric, or of the only number that
---the trial's first report has.
---@param report { step: integer, values: table<string, number> }
function Journal:report(number, report)
  local live, values = self.live[number], report.values
  if live.name == nil then
    local metric, first = self.study.metric or "value", next(values)
    live.name = values[metric] and metric or first and not next(values, first) and first or false
  end
  local value = live.name and values[live.name]
  if not value then return end
  local step = ("%d"):format(report.step)
  live.steps[step] = true
  table.insert(self.pending, report_line(live.id, { step, scalar(value) }))
end

---Adds the trials that have ended to the journal, in the order of their numbers. Trials that are running in the journal
---end there. Trials that the journal already has with their present state are skipped.
---@param only? integer  the number of a trial: add this one
---@return integer  how many trials were added
function Journal:add(only)
  local count, is_new = 0, false
  local trials = self.store:trials(self.study, only)
  for _, number in ipairs(check.names(trials)) do
    local trial, entry = trials[number], self.added[number]
    local state = state_of(trial)
    if state and not (entry and entry.state == state) then
      if entry and entry.state == running then
        end_trial(self, trial, entry, state)
      else
        table.insert(self.pending, trial_line(self, trial, state))
        is_new = true
      end
      self.live[number], count = nil, count + 1
    end
  end
  write_pending(self)
  if is_new then look(self) end
  return count
end

---Writes the pending lines if the file can be written, and lets other processes add trials to the journal.
function Journal:close()
  local _ <close> = self.lock
  check.attempt(write_pending, self)
  self.lock = nil
end
Journal.__close = Journal.close

return M
