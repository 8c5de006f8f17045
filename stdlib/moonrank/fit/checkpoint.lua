-- Checkpoints: files from which a training can resume. A file has the history, the chosen epochs, the settings that
-- determine the results, and the state of model and optimizer, which kept_steps.lua or trees.lua write. A file has no
-- executable code. When a training resumes, the whole file is checked before the model changes.
local core = require "moonrank.core"
local check = require "moonrank.check"
local choices = require "moonrank.fit.choice"
local option_names = require "moonrank.options"
local declare = option_names.declare
local fingerprint = require "moonrank.data.fingerprint"
local kept_steps = require "moonrank.fit.kept_steps"
local learners = require "moonrank.fit.learner"
local parameters = require "moonrank.models.parameters"
local paths = require "moonrank.system.paths"
local runs = require "moonrank.fit.run"
local script_code = require "moonrank.fit.script_code"
local setting = require "moonrank.system.settings"
local files = require "moonrank.sweep.files"

local M = {}

local writer = "moonrank fit"

local checkpoint_options = declare("mr.FitCheckpoint", {
  { "path", "string", required = true, accept = function(path) return path ~= "" end, expected = "the name of a file",
    also = { "file", "filename" }, help = "safetensors file; missing folders are made" },
  { "every", "integer", default = 1, least = 1, formerly = "epochs", renamed = 2,
    help = "number of epochs between writes" },
  { "minutes", "number", least = 0, infinite = true,
    help = "minutes between writes, instead of every; writes happen at the end of an epoch and after the last one" },
  { "mix_numerics", "boolean", default = false,
    help = "resume from a file of another numerics version; last digits may then differ" },
})

---Returns the option `checkpoint` of mr.fit as a table. It may be a path, a table, or true for a file in the folder of
---`trial`. Returns nil without checkpoints.
function M.options(given, trial)
  if given == nil or given == false then return nil end
  if given == true then
    check.expect(trial, "mr.fit", "checkpoint", given, "a path, because the option trial is missing")
    given = files.of_fit(trial.checkpoint)
  end
  local o = checkpoint_options:read("mr.fit's checkpoint", type(given) == "string" and { path = given } or given)
  paths.check("mr.fit: checkpoint", "new file", o.path)
  return o
end

-- Settings that determine the results of a training. A checkpoint of a training with other settings is an error, which
-- names the settings that differ in this order.
local settings = { "model", "train", "valid", "test", "loss", "optimizer", "reduction", "batch", "seed", "shuffle",
  "schedule", "clip", "start", "epochs", "measured", "every", "select", "choose_on", "patience" }

-- Maps each model that this process trained to its checkpoint file and to the fingerprints of its parameters before and
-- after the training. They allow an interrupted training to resume in the same process, although its model has changed.
local trained = setmetatable({}, { __mode = "k" })

-- Maps each checkpoint file to the text of the script's functions (code and captured values) before and after the
-- training. The two texts differ if the training changed a captured variable, such as a counter.
local computed = {}

-- Returns the fingerprint of the current parameters and buffers of the model and of its loss; "none" for trees, which
-- begin empty. A state of the loss is left out, because every training begins with a new one.
local function numbers_of(plan)
  if plan.trainer then return "none" end
  local snapshot = plan.learner:snapshot()
  local names = {}
  for _, name in ipairs(check.names(snapshot.buffers or {})) do
    if not learners.is_state(name) then names[#names + 1] = name end
  end
  for _, name in ipairs(names) do snapshot[#snapshot + 1] = snapshot.buffers[name] end
  return fingerprint.combined(table.concat(names, ","), table.unpack(snapshot))
end

-- Returns the fingerprint of the parameters that the training begins from. If this process trained the model with the
-- same checkpoint file, and the model has not changed since, returns the fingerprint from before that training.
local function start_of(plan)
  local now, before = numbers_of(plan), trained[plan.model]
  return before and before.path == plan.checkpoint.path and before.left == now and before.start or now
end

-- Returns the settings that determine the results of a training, as texts by name. With `round`, options have their
-- names before this round of renamings, as in checkpoints that earlier versions of Moonrank wrote.
local function settings_of(plan, round)
  local selection, texts = plan.selection, { start = start_of(plan) }
  local chosen_by = { measured = selection.measured, every = selection.every, select = selection.metrics,
    choose_on = selection.part, patience = selection.patience }
  for _, role in ipairs{ "train", "valid", "test" } do texts[role] = plan.data[role] or "none" end
  if plan.interactions then texts.batch = ("%d %s"):format(plan.batch, tostring(plan.interactions)) end
  if plan.batch_rows then texts.batch = ("%d rows"):format(plan.batch_rows) end
  for _, name in ipairs(settings) do
    local value = chosen_by[name]
    if value == nil then value = plan[name] end
    texts[name] = texts[name] or setting.of_option(value, round)
  end
  return texts
end

-- Returns the text of the script's functions (code and captured values) at the start of the training. If an earlier
-- training of this process used the same checkpoint file, and the text has not changed since, returns the text from
-- before that training.
local function code_of(plan, texts)
  local now, before = script_code.of(plan, texts), computed[plan.checkpoint.path]
  return before and before.left == now and before.start or now
end

-- Returns a tensor with a row per epoch: loss, whether it was validated, validation loss, metrics. Absent is NaN.
local function history_rows(measured, history)
  local rows, nan = {}, 0 / 0
  for i, entry in ipairs(history) do
    rows[i] = { entry.loss, entry.valid_loss and 1 or 0, entry.valid_loss or nan }
    for c, each in ipairs(measured) do rows[i][3 + c] = entry.metrics[each.name] or nan end
  end
  return #rows > 0 and core.tensor(rows, "float64", "cpu") or core.full({ 0, 3 + #measured }, 0, "float64", "cpu")
end

-- Returns the history (a table of epochs) from a tensor that `history_rows` made. A tensor of another size is an error.
local function read_history(measured, by_name, epoch)
  local x, history = parameters.saved(by_name, "history", { epoch, 3 + #measured }, "float64"), {}
  for i, row in ipairs(x:totable()) do
    local entry = runs.epoch{ epoch = i, loss = row[1], metrics = {} }
    if row[2] ~= 0 then
      entry.valid_loss = row[3]
      for c, each in ipairs(measured) do entry.metrics[each.name] = row[3 + c] end
    end
    history[i] = entry
  end
  return history
end

---Writes and reads the checkpoint file of one training.
---@class mr.fit.Keeper
local Keeper = check.class("mr.fit.Keeper")

local function integer_in(texts, name, most)
  local number = math.tointeger(tonumber(texts[name]))
  return check.expect(number and number >= 0 and number <= most, "the metadata of the file", ("'%s'"):format(name),
    texts[name], "an integer from 0 to %d", most) and number
end

-- Returns true if a training may resume from the checkpoint with a larger option `epochs` than before. It may not if
-- its schedule depends on the number of epochs, or if the last epoch was validated only because it was the last.
local function may_grow(plan, texts)
  local was, selection = math.tointeger(tonumber(texts["setting epochs"])), plan.selection
  if not was or was > plan.epochs or plan.schedule and plan.schedule._by_total then return false end
  return not selection.data or was % selection.every == 0 or texts.epoch ~= tostring(was)
end

-- Errors call some settings of a checkpoint by other names: by the option's, or in words if there is no such option.
local shown_names = { measured = "metrics", start = "the model's initial parameters" }

local most_shown <const> = 3

-- Returns the parts of a setting that differ between the file and this training, in words. `now` has texts of this
-- training: with the present names of options, and with those before each round of renamings. The text with the fewest
-- differences is compared.
local function difference(name, was, now)
  local found
  for _, text in ipairs(now) do
    local one = setting.differences(shown_names[name] or name, was, text)
    if not found or #one < #found then found = one end
  end
  local more = #found > most_shown and (", and %d more differences"):format(#found - most_shown) or ""
  return core.safe_text(table.concat(found, ", ", 1, math.min(#found, most_shown))) .. more
end

-- Returns the settings that differ between the file and this training, in words. The initial parameters are left out
-- if another setting differs, because most settings of a model change them.
local function differences(self, texts)
  -- the settings with former names of options, by round of renamings; made when a setting in the file differs
  local before, found = {}, {}
  for _, name in ipairs(settings) do
    local was, now = texts["setting " .. name], { self._settings[name] }
    local is_same = was == now[1] or name == "epochs" and may_grow(self._plan, texts)
    if not is_same then
      for round = option_names.rounds, 1, -1 do
        before[round] = before[round] or settings_of(self._plan, round)
        now[#now + 1], is_same = before[round][name], is_same or was == before[round][name]
      end
    end
    if not is_same and (name ~= "start" or #found == 0) then
      found[#found + 1] = difference(name, tostring(was), now)
    end
  end
  return found
end

-- Raises an error if the checkpoint belongs to a training with other settings, other functions of the script, or
-- another numerics version.
local function compare(self, texts)
  local found = differences(self, texts)
  if #found > 0 then
    check.fail("is the checkpoint of another training: %s. Move the file away, or pass another path",
      table.concat(found, "; "))
  end
  local function code_before(former) return script_code.of(self._plan, self._settings, former) end
  local changed = script_code.changes(texts.code or "", self._code, code_before)
  if changed then
    check.fail("is the checkpoint of a training by other functions of the script, or by functions that read other "
      .. "values. Move the file away, or pass another path. Changes since the file was written:\n%s", changed)
  end
  if texts.numerics ~= core.numerics() and not self._plan.checkpoint.mix_numerics then
    check.fail("is the checkpoint of a training under numerics version '%s', and this program has '%s'. Move the file "
      .. "away, or pass mix_numerics = true", core.safe_text(texts.numerics or "not recorded"), core.numerics())
  end
end

-- Returns, for each metric, the epoch that it chose and the first validated epoch; 0 stands for none.
local function read_choices(count, texts, epoch)
  local best, first = {}, {}
  for k = 1, count do
    best[k], first[k] = integer_in(texts, "best " .. k, epoch), integer_in(texts, "first " .. k, epoch)
  end
  return best, first
end

-- Restores model, optimizer and run from a checkpoint. All of it is checked before anything changes.
local function resume(self, names, tensors, texts)
  local plan, run, by_name = self._plan, self._run, {}
  if plan.is_first then compare(self, texts) end
  local epoch = integer_in(texts, "epoch", plan.epochs)
  for i, name in ipairs(names) do by_name[name] = tensors[i] end
  local history = read_history(plan.selection.measured, by_name, epoch)
  local best, first = read_choices(#run.choices, texts, epoch)
  local snapshots, take = self._kept:read(by_name, epoch, best)
  take()
  runs.resume(run, history, texts.stopped ~= "" and texts.stopped or false)
  for k, choice in ipairs(run.choices) do
    choices.resume(choice, first[k] > 0 and first[k], run.history[best[k]] or false, snapshots[k])
  end
end

local function read(self)
  local path = self._plan.checkpoint.path
  local names, tensors, keys, values = core.load_tensors(path, writer)
  local texts = {}
  for i, key in ipairs(keys) do texts[key] = values[i] end
  check.within(path, resume, self, names, tensors, texts)
end

-- Raises an error if the processes of a parallel training would resume from different epochs.
local function check_together(self)
  local group, own = self._plan.group, self._run.resumed
  if not group then return end
  local first = math.tointeger(group:of_first(function() return { own } end, 1)[1])
  if first == own then return end
  check.fail("%s: this process found epoch %d, and the first process epoch %d. Name a file that all processes see and "
    .. "that no other training writes", self._plan.checkpoint.path, own, first)
end

---Makes the object that writes and reads the checkpoint file of a training. Its methods `open`, `after`
---and `ended` do nothing if the training has no option `checkpoint`.
---@return mr.fit.Keeper
function M.new(plan, run)
  return setmetatable({ _plan = plan, _run = run, _kept = false, _written = core.clock(), _settings = false,
    _code = false }, Keeper)
end

---Starts the checkpoints of a training: resumes from the file if it exists, else writes the file
---before the first epoch. Does nothing without the option `checkpoint`.
---@param passes mr.fit.Epochs|mr.fit.Rounds  object with the state that a checkpoint saves
function Keeper:open(passes)
  local plan = self._plan
  if not plan.checkpoint then return end
  self._kept = passes.optimizer and kept_steps.new(plan.learner, passes.optimizer) or passes
  self._settings = settings_of(plan)
  self._code = code_of(plan, self._settings)
  if core.file_exists(plan.checkpoint.path) then
    read(self)
  else
    core.make_folder(plan.checkpoint.path)
    self:write(0)
  end
  check_together(self)
end

---Ends the checkpoints of a training. Notes the state of the model and of the script's functions, so that the same
---process can resume from the same file.
function Keeper:ended()
  if not self._code then return end
  local plan, path = self._plan, self._plan.checkpoint.path
  trained[plan.model] = { path = path, start = self._settings.start, left = numbers_of(plan) }
  computed[path] = self._code ~= "" and { start = self._code, left = script_code.of(plan, self._settings) } or nil
end

---Writes the checkpoint file completely, or leaves the old file unchanged. In a parallel training,
---only the first process writes.
---@param epoch integer  number of the last complete epoch
function Keeper:write(epoch)
  local plan, run = self._plan, self._run
  if not plan.is_first then return end
  local names, tensors = {}, {}
  local texts = { epoch = tostring(epoch), stopped = run.stopped or "", code = self._code }
  for k, choice in ipairs(run.choices) do
    texts["best " .. k] = tostring(choice.best and choice.best.epoch or 0)
    texts["first " .. k] = tostring(choice.first or 0)
  end
  self._kept:write(names, tensors, run.choices)
  names[#names + 1], tensors[#tensors + 1] = "history", history_rows(plan.selection.measured, run.history)
  for name, value in pairs(self._settings) do texts["setting " .. name] = value end
  local keys, values = check.names(texts), {}
  for i, key in ipairs(keys) do values[i] = texts[key] end
  core.save_tensors(plan.checkpoint.path, writer .. " 1", names, tensors, keys, values)
  self._written = core.clock()
end

---Writes the checkpoint file after an epoch, if the option's number of epochs or minutes has
---passed, or if the training ends.
---@param is_last boolean  whether training ends here
function Keeper:after(epoch, is_last)
  local how = self._plan.checkpoint
  if not how then return end
  local due = epoch % how.every == 0
  if how.minutes then due = core.clock() - self._written >= 60 * how.minutes end
  if due or is_last then self:write(epoch) end
end

return M
