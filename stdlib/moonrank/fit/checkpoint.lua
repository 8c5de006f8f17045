-- A training in a file, so that it goes on after whatever ended it: model, optimiser, best epochs, history. Nothing in it is code; what it holds
-- is checked before anything changes. What is the model's depends on how it is trained: kept_steps.lua, trees.lua.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local fingerprint = require "moonrank.data.fingerprint"
local kept_steps = require "moonrank.fit.kept_steps"
local paths = require "moonrank.paths"
local runs = require "moonrank.fit.run"
local script_code = require "moonrank.fit.script_code"
local setting = require "moonrank.settings"
local files = require "moonrank.sweep.files"
local trials = require "moonrank.sweep.trial"

local M = {}

local writer = "moonrank fit"

local checkpoint_options = declare("mr.FitCheckpoint", {
  { "path", "string", required = true, accept = function(path) return path ~= "" end, expected = "the name of a file",
    also = { "file", "filename" }, help = "safetensors file; missing folders are made" },
  { "epochs", "integer", default = 1, least = 1, also = { "every" }, help = "number of epochs between writes" },
  { "minutes", "number", least = 0, infinite = true,
    help = "minutes between writes, instead of epochs; writes happen at the end of an epoch and after the last one" },
  { "mix_numerics", "boolean", default = false,
    help = "resume from a file of another numerics version; last digits may then differ" },
})

---Returns where and how often to write, from the option of mr.fit; nil without the option.
---@return mr.FitCheckpoint?
function M.options(given, trial)
  if given == nil or given == false then return nil end
  if given == true then
    if not trial then check.fail("mr.fit: checkpoint = true writes to the folder of a trial, but trial is missing; give a path") end
    given = files.of_fit(trial.checkpoint)
  end
  local o = checkpoint_options:read("mr.fit's checkpoint", type(given) == "string" and { path = given } or given)
  paths.check("mr.fit: checkpoint", "new file", o.path)
  return o
end

-- Settings that determine the numbers of a training. An error names the first that differs, so the
-- most telling come first.
local settings = { "model", "train", "valid", "test", "loss", "optimizer", "reduction", "batch", "seed", "shuffle", "schedule", "clip",
  "start", "epochs", "measured", "every", "select", "choose_on", "patience" }

-- By model, trainings of this process: the file, the fingerprint of the numbers that the training began from, and of those that it left. A training
-- that was interrupted goes on in the same process by them, although its model has moved.
local trained = setmetatable({}, { __mode = "k" })

-- By path the functions of the script that a training of this process began with, and what they were when it ended:
-- counters that they captured may have moved.
local computed = {}

-- The fingerprint of all numbers of the model and its loss as they are now; "none" of trees, which begin from nothing.
local function numbers_of(o)
  if o.trainer then return "none" end
  local snapshot = o.learner:snapshot()
  local names = check.names(snapshot.buffers or {})
  for _, name in ipairs(names) do snapshot[#snapshot + 1] = snapshot.buffers[name] end
  return fingerprint.combined(table.concat(names, ","), table.unpack(snapshot))
end

-- Fingerprint of the numbers that the training begins from. If the model was trained with this file
-- in this process and has not changed since, it is the fingerprint from before that training.
local function start_of(o)
  local now, before = numbers_of(o), trained[o.model]
  return before and before.path == o.checkpoint.path and before.left == now and before.start or now
end

-- The settings as texts, by name. `formerly`: with former names of options, as earlier versions wrote them.
local function settings_of(o, data, formerly)
  local texts = { start = start_of(o) }
  for _, role in ipairs{ "train", "valid", "test" } do texts[role] = data[role] or "none" end
  if o.batch_rows then texts.batch = ("%d rows"):format(o.batch_rows) end
  for _, name in ipairs(settings) do texts[name] = texts[name] or setting.of_option(o[name], formerly) end
  return texts
end

-- The functions of the script that the training begins with.
local function code_of(o, texts)
  local now, before = script_code.of(o, texts), computed[o.checkpoint.path]
  return before and before.left == now and before.start or now
end

-- Losses and metrics of every epoch: a row each of loss, whether it was validated, validation loss, metrics.
local function history_rows(o, history)
  local rows, nan = {}, 0 / 0
  for i, entry in ipairs(history) do
    rows[i] = { entry.loss, entry.valid_loss and 1 or 0, entry.valid_loss or nan }
    for c, each in ipairs(o.measured) do rows[i][3 + c] = entry.metrics[each.name] or nan end
  end
  return #rows > 0 and core.tensor(rows, "float64", "cpu") or core.full({ 0, 3 + #o.measured }, 0, "float64", "cpu")
end

-- The epochs of such rows.
local function read_history(o, x, epoch)
  if not x then check.fail("no tensor 'history' in the file") end
  if x.dtype ~= "float64" or x.dims ~= 2 or x:size(1) ~= epoch or x:size(2) ~= 3 + #o.measured then
    check.fail("tensor 'history' is {%s} %s, expected {%d, %d} float64", table.concat(x:shape(), ", "), x.dtype, epoch, 3 + #o.measured)
  end
  local history = {}
  for i, row in ipairs(x:totable()) do
    local entry = runs.epoch{ epoch = i, loss = row[1], metrics = {} }
    if row[2] ~= 0 then
      entry.valid_loss = row[3]
      for c, each in ipairs(o.measured) do entry.metrics[each.name] = row[3 + c] end
    end
    history[i] = entry
  end
  return history
end

---@class mr.fit.Keeper
---@field epoch integer  the last one that the file had, 0 where there was none
local Keeper = check.class("mr.fit.Keeper")

local function integer_in(texts, name, most)
  local number = math.tointeger(tonumber(texts[name]))
  if not number or number < 0 or number > most then
    check.fail("%s is '%s', expected an integer from 0 to %d", name, core.safe_text(tostring(texts[name])), most)
  end
  return number
end

-- True if the training of a file may continue to more epochs than it had. It may not if its
-- schedule depends on the number of epochs, or if its last validation took place only because the
-- epoch was the last.
local function may_grow(o, texts)
  local was = math.tointeger(tonumber(texts["setting epochs"]))
  if not was or was > o.epochs or o.schedule and o.schedule._by_total then return false end
  return not o.judge or was % o.every == 0 or texts.epoch ~= tostring(was)
end

-- Raises where the file is of another training.
local function compare(self, texts)
  local former  -- the settings as earlier versions wrote them
  for _, name in ipairs(settings) do
    local was = texts["setting " .. name]
    local is_same = was == self._settings[name] or name == "epochs" and may_grow(self._o, texts)
    former = not is_same and (former or settings_of(self._o, self._run.data, true)) or former
    if not is_same and was ~= former[name] then
      check.fail("holds a training with %s = %s, not %s: move it away or name another file", name,
        core.safe_text(tostring(was)), self._settings[name])
    end
  end
  local function formerly() return script_code.of(self._o, self._settings, true) end
  local changed = script_code.changes(texts.code or "", self._code, formerly)
  if changed then
    check.fail("holds a training by other functions of the script: move it away or name another file\n%s", changed)
  end
  if texts.numerics ~= core.numerics() and not self._options.mix_numerics then
    check.fail("holds a training of the numerics '%s', those of this program are '%s'\n(move it away; mix_numerics = true goes on)",
      core.safe_text(texts.numerics or "not recorded"), core.numerics())
  end
end

-- For each metric, reads the epoch that it chose and the first validated epoch; 0 means none.
local function read_choices(count, texts, epoch)
  local best, first = {}, {}
  for k = 1, count do best[k], first[k] = integer_in(texts, "best " .. k, epoch), integer_in(texts, "first " .. k, epoch) end
  return best, first
end

-- Restores the trained state and the run from the file. Everything is read and checked before
-- anything changes.
local function resume(self, names, tensors, texts)
  local o, run, by_name = self._o, self._run, {}
  if not o.group or o.group.rank == 0 then compare(self, texts) end  -- other processes take what the first one has
  local epoch = integer_in(texts, "epoch", o.epochs)
  for i, name in ipairs(names) do by_name[name] = tensors[i] end
  local history, best, first = read_history(o, by_name.history, epoch), read_choices(#run.choices, texts, epoch)
  local snapshots, take = self._kept:read(by_name, epoch, best)
  take()
  table.move(history, 1, epoch, 1, run.history)
  for k, choice in ipairs(run.choices) do
    choice.first, choice.best, choice._snapshot = first[k] > 0 and first[k], run.history[best[k]] or false, snapshots[k]
  end
  if o.judge then run.best = run.choices[1].best or nil else run.best = run.history[epoch] end
  run.stopped = texts.stopped ~= "" and texts.stopped or false
  run.resumed, self.epoch = epoch, epoch
end

-- Says from which epoch a training goes on.
local function tell(o, run, path)
  local shows = o.progress and run.resumed > 0 and (not o.group or o.group.rank == 0)
  if not shows then return end
  local is_over = run.stopped or run.resumed >= o.epochs
  local text = is_over and "%s: is complete after epoch %d of %d, from %s\n" or "%s: goes on after epoch %d of %d, from %s\n"
  io.stderr:write(text:format(core.safe_text(o.name), run.resumed, o.epochs, core.safe_text(path)))
end

local function read(self)
  local names, tensors, keys, values = core.load_tensors(self._options.path, writer)
  local texts = {}
  for i, key in ipairs(keys) do texts[key] = values[i] end
  local ok, message = check.attempt(resume, self, names, tensors, texts)
  if not ok then check.fail("%s: %s", self._options.path, check.reason(message)) end
end

-- Raises where processes that train together do not go on from the same epoch.
local function check_together(self)
  if not self._o.group then return end
  local first = math.tointeger(self._o.group:of_first(function() return { self.epoch } end, 1)[1])
  if first == self.epoch then return end
  check.fail("%s: found the end of epoch %d, and the first process that of epoch %d: expected one file that all processes see, and that no "
    .. "other training writes", self._options.path, self.epoch, first)
end

---Starts checkpointing a training: resumes from the file if it exists, else writes the first one.
---Without the option it does nothing.
---@param o table
---@param run mr.Run
---@param passes table  with the optimizer, bound, or what trees have in its place
---@return mr.fit.Keeper
function M.open(o, run, passes)
  local kept = passes.optimizer and kept_steps.new(o.learner, passes.optimizer) or passes
  local self = setmetatable({ epoch = 0, _o = o, _run = run, _kept = kept, _options = o.checkpoint or false,
    _written = core.clock(), _settings = o.checkpoint and settings_of(o, run.data), _code = false }, Keeper)
  if not self._options then return self end
  self._code, o.keeper = code_of(o, self._settings), self
  if core.file_exists(self._options.path) then
    read(self)
  else
    core.make_folder(self._options.path)
    self:write(0)
  end
  check_together(self)
  tell(o, run, self._options.path)
  if run.resumed > 0 and o.trial then trials.resumed(o.trial) end
  return self
end

---Ends checkpointing, also of a training that ended early. The current state of the model and of
---the script's functions can then resume from the same file in this process.
---@param o table
function M.ended(o)
  local keeper = o.keeper
  if not keeper then return end
  local path, begun = o.checkpoint.path, keeper._settings
  trained[o.model] = { path = path, start = begun.start, left = numbers_of(o) }
  computed[path] = keeper._code ~= "" and { start = keeper._code, left = script_code.of(o, begun) } or nil
end

---Writes the file, whole or not at all. If several processes train together, the first one writes.
---@param epoch integer  the last one that has ended
function Keeper:write(epoch)
  local o, run = self._o, self._run
  if o.group and o.group.rank ~= 0 then return end
  local names, tensors = {}, {}
  local texts = { epoch = tostring(epoch), stopped = run.stopped or "", code = self._code }
  for k, choice in ipairs(run.choices) do
    texts["best " .. k], texts["first " .. k] = tostring(choice.best and choice.best.epoch or 0), tostring(choice.first or 0)
  end
  self._kept:write(names, tensors, run.choices)
  names[#names + 1], tensors[#tensors + 1] = "history", history_rows(o, run.history)
  for name, value in pairs(self._settings) do texts["setting " .. name] = value end
  local keys, values = check.names(texts), {}
  for i, key in ipairs(keys) do values[i] = texts[key] end
  core.save_tensors(self._options.path, writer .. " 1", names, tensors, keys, values)
  self._written = core.clock()
end

---Writes the file after an epoch if it is due.
---@param epoch integer
---@param last boolean  whether training ends here
function Keeper:after(epoch, last)
  local how = self._options
  if not how then return end
  local due = epoch % how.epochs == 0
  if how.minutes then due = core.clock() - self._written >= 60 * how.minutes end
  if due or last then self:write(epoch) end
end

return M
