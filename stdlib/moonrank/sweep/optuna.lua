-- Writes the trials of a study to a journal of Optuna, which optuna-dashboard shows: a file with a JSON object in each
-- line (JournalFileBackend of Optuna 4 and 5). Lines are only added, so that a running dashboard can follow the file.
-- Source: optuna/storages/journal/_storage.py, JournalStorageReplayResult.
local core = require "moonrank.core"
local check = require "moonrank.check"
local described = require "moonrank.sweep.described"
local frame = require "moonrank.sweep.frame"

local M = {}

local create_study <const>, delete_study <const>, create_trial <const> = 0, 1, 4
local set_user_attribute <const>, set_system_attribute <const> = 2, 3
local states <const> = { done = 1, pruned = 2, failed = 3, killed = 3 }
local failed <const> = 3
local writer <const> = "moonrank"
-- name of the attribute that a sweep writes to its study in the journal, to find the study again
local mark <const> = "moonrank_study"

---@class mr.sweep.Journal
---@field path string
---@field private study_id integer
---@field private added table<integer, integer>  state in the journal, by the number of the trial
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

-- Returns the JSON object of a trial's attributes in Optuna: its number, its seed, its returned numbers without the
-- study's metric, and why it ended early.
local function attributes_of(self, trial)
  local rows = { { "trial", scalar(trial.number) }, { "seed", scalar(trial.seed) } }
  local numbers = self.store:rows("SELECT name, value FROM numbers WHERE trial = ?1 ORDER BY name", trial.id)
  for _, each in ipairs(numbers) do
    local is_finite = each.value and check.is_finite(each.value)
    if each.name ~= "trial" and each.name ~= "seed" and each.name ~= self.study.metric then
      rows[#rows + 1] = { each.name, is_finite and scalar(each.value) or quoted(tostring(each.value or "nan")) }
    end
  end
  if trial.reason then rows[#rows + 1] = { "reason", quoted(core.safe_text(trial.reason, true)) } end
  return object(rows)
end

-- Returns a trial's reports by step as JSON: those of the study's metric, or of the only reported number.
local function reports_of(self, trial)
  local by_name, names = {}, {}
  for _, row in ipairs(self.store:rows("SELECT name, step, value FROM reports WHERE trial = ?1 ORDER BY step",
    trial.id)) do
    if not by_name[row.name] then by_name[row.name], names[#names + 1] = {}, row.name end
    table.insert(by_name[row.name], { ("%d"):format(row.step), scalar(row.value or 0 / 0) })
  end
  return object(by_name[self.study.metric or "value"] or #names == 1 and by_name[names[1]] or {})
end

-- Returns the journal's line for an ended trial. One without a value has failed there: Optuna requires a value.
local function trial_line(self, trial)
  local distributions, params = parameters_of(self.space, trial)
  local state = states[trial.state]
  if state == states.done and not trial.value then state = failed end
  return line_of(create_trial, { { "study_id", scalar(self.study_id) }, { "datetime_start", time_of(trial.started) },
    { "datetime_complete", time_of(trial.ended or trial.started) }, { "state", scalar(state) },
    { "value", trial.value and state ~= failed and scalar(trial.value) or "null" }, { "values", "null" },
    { "distributions", distributions }, { "params", params }, { "user_attrs", attributes_of(self, trial) },
    { "system_attrs", "{}" }, { "intermediate_values", reports_of(self, trial) } }), state
end

-- Returns the lines of a file; "" if it does not exist. An incomplete last line, which a process that was killed leaves
-- behind, is removed from the file, because Optuna could not read a line after it.
local function read(path)
  if not core.file_exists(path) then return "" end
  core.check_file(path)
  local file <close> = assert(io.open(path, "rb"))
  local text = file:read "a"
  if text ~= "" and not text:find '^{"op_code":' then
    check.fail("results:to_optuna: the file %s is not a journal of Optuna. Pass another path", path)
  end
  local whole = text:match "^.*\n" or ""
  if whole ~= text then core.write_file(path, whole) end
  return whole
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

-- Finds this study in the text of the journal, and which of the study's trials the journal already has.
local function look(self, text, sum)
  local next_id, by_name, own = 0, {}, nil
  self.added = {}
  for line in text:gmatch "[^\n]+" do
    local code, study = tonumber(line:match '^{"op_code":(%d+)'), tonumber(line:match '"study_id":(%d+)')
    if code == create_study then
      local name = name_in(line)
      if name and not by_name[name] then by_name[name], next_id = next_id, next_id + 1 end
    elseif code == delete_study then
      for name, id in pairs(by_name) do by_name[name] = id ~= study and id or nil end
    elseif code == set_user_attribute and line:find(('"%s":"%s"'):format(mark, sum), 1, true) then
      own = study
    elseif code == create_trial and line:find(('"worker_id":"%s"'):format(writer), 1, true) and study == own then
      local state, number = line:match '"state":(%d).-"user_attrs":{"trial":(%d+)'
      if number then self.added[tonumber(number)] = tonumber(state) end
    end
  end
  local there = by_name[quoted(self.study.name)]
  if there and there ~= own then
    check.fail("results:to_optuna: %s has a study '%s' of another sweep or program. Pass another path", self.path,
      core.safe_text(self.study.name))
  end
  self.study_id = there or next_id
  return there == nil
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
function M.open(path, store, study)
  core.make_folder(path)
  local lock = core.lock_file(path .. ".moonrank")
  if not lock then
    check.fail("results:to_optuna: another process adds trials to %s now. Wait until it ends, or pass another path",
      path)
  end
  local self = setmetatable({ path = path, store = store, study = study, space = described.read(study.space),
    lock = lock, added = {}, study_id = 0 }, Journal)
  local sum = core.sha256(study.name .. "\0" .. study.created):sub(1, 16)
  if look(self, read(path), sum) then
    local id, metric = { "study_id", scalar(self.study_id) }, study.metric or "value"
    local direction = study.direction == "minimize" and "[1]" or "[2]"
    append(path, line_of(create_study, { { "study_name", quoted(study.name) }, { "directions", direction } })
      .. line_of(set_user_attribute, { id, { "user_attr", object{ { mark, quoted(sum) } } } })
      .. line_of(set_system_attribute,
        { id, { "system_attr", object{ { "study:metric_names", "[" .. quoted(metric) .. "]" } } } }))
  end
  return self
end

---Adds the trials that have ended to the journal, in the order of their numbers. Trials that the journal already has
---with their present state are skipped.
---@param only? integer  the number of a trial: add this one
---@return integer  how many trials were added
function Journal:add(only)
  local lines, count = {}, 0
  local trials = self.store:trials(self.study, only)
  for _, number in ipairs(check.names(trials)) do
    local trial = trials[number]
    local line, state = nil, nil
    if states[trial.state] then line, state = trial_line(self, trial) end
    if line and self.added[number] ~= state then
      lines[#lines + 1], self.added[number], count = line, state, count + 1
    end
  end
  if count > 0 then append(self.path, table.concat(lines)) end
  return count
end

---Lets other processes add trials to the journal.
function Journal:close()
  local _ <close> = self.lock
  self.lock = nil
end
Journal.__close = Journal.close

return M
