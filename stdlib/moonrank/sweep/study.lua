-- Makes the row of a study in the store (space, code, settings, data), and compares it with that of an earlier run.
local core = require "moonrank.core"
local check = require "moonrank.check"
local code = require "moonrank.sweep.code"
local command = require "moonrank.sweep.workers.command"
local digits = require "moonrank.system.digits"
local fingerprint = require "moonrank.data.fingerprint"
local options = require "moonrank.options"
local forced = require "moonrank.sweep.forced"
local setting = require "moonrank.system.settings"
local usage = require "moonrank.args.usage"

local M = {}

---Returns the option `settings` as the text in a study's row: a line "NAME = VALUE" for each, sorted by name.
---@param round? integer  write options with their names before this round of renamings, as earlier program versions did
function M.settings_text(settings, round)
  local lines = {}
  for _, name in ipairs(check.names(settings)) do
    local text = ("%s = %s"):format(name, setting.text("mr.sweep", name, settings[name], round))
    check.utf8("mr.sweep", "a setting", text)
    lines[#lines + 1] = text
  end
  return table.concat(lines, "\n")
end

---Returns true if the text of a study's settings in a store says the same as `settings`, perhaps with former names of
---options.
---@param stored string
function M.has_settings(stored, settings)
  return options.is_same(stored, function(round) return M.settings_text(settings, round) end)
end

-- Returns a line for each part of the option `data`: the SHA-256 of a file, or the fingerprint of data.
local function data_text(data)
  local lines = {}
  for i, each in ipairs((type(data) == "string" or fingerprint.of(data)) and { data } or data or {}) do
    local sum, words = fingerprint.of(each), tostring(each):match "[^\n]*"
    check.expect(sum or type(each) == "string", "mr.sweep", ("data[%d]"):format(i), each,
      "paths of files, datasets, folds or ratings")
    if not sum then sum, words = core.sha256_file(each), each:match "[^/]*$" end
    lines[i] = sum .. " " .. words
  end
  return table.concat(lines, "\n")
end

-- Returns the text of the trials' code. If it has lines "unseen" (things that cannot be compared), the checksum of the
-- whole script is added.
local function script_text(text, whole)
  if text:match "^unseen " or text:find("\nunseen ", 1, true) then text = text .. "\nall of the script " .. whole end
  return text
end

-- Returns the fields of a study's row that describe code. `script_before` makes the text `script` with former names of
-- options.
local function code_of(run, space, in_worker)
  local script_name, whole = command.script_of(run)
  local text = code.of(run, space, in_worker)
  return { script_name = script_name, code = text, script = script_text(text, whole),
    script_before = function(former) return script_text(code.of(run, space, in_worker, former), whole) end }
end

---Returns the fields of the row that a study gets in the store, from the options of mr.sweep.
---@param o table            the options of mr.sweep, checked
---@param in_worker boolean  true in a worker, which does not compute checksums of data
function M.describe(o, in_worker)
  local code_row = code_of(o.run, o.space, in_worker)
  return {
    name = o.name, code = code_row.code, space = o.space:describe(),
    sampler = o.sampler:describe() .. (o.pruner and ", pruner " .. o.pruner:describe() or ""),
    seed = o.seed, direction = o.direction, metric = o.metric, script = code_row.script,
    script_name = code_row.script_name, settings = M.settings_text(o.settings),
    data = in_worker and "" or data_text(o.data), planned = o.trials, version = core.version(),
    -- for comparisons with rows of earlier program versions, whose texts have former names of options
    script_before = code_row.script_before,
    has_settings = function(stored) return M.has_settings(stored, o.settings) end,
  }
end

---Returns a checksum of a study's description, by which the parent process checks that a worker runs the same study.
---@param study table  from `describe`
function M.fingerprint(study)
  local parts = {}
  for _, field in ipairs{ "name", "space", "sampler", "direction", "metric", "settings" } do
    parts[#parts + 1] = tostring(study[field])
  end
  -- Only the lines of functions and modules go into the checksum of the code. Values such as times may differ
  -- between processes, and so may the lines of modules that were loaded later.
  for line in study.script:gmatch "[^\n]+" do
    if line:match "^function " or line:match "^module " then parts[#parts + 1] = line end
  end
  parts[#parts + 1] = ("%d"):format(study.seed)
  return core.sha256(table.concat(parts, "\0"))
end

---Returns the lines that are in only one of two texts, the old ones after "then:", the new ones after "now:".
---@param was string
---@param now string
function M.difference(was, now)
  local out = {}
  local function add(head, text, other)
    other = "\n" .. other .. "\n"
    for line in text:gmatch "[^\n]+" do
      if not other:find("\n" .. line .. "\n", 1, true) then
        out[#out + 1] = head .. digits.shortened(line:match "^%s*(.*)")
      end
    end
  end
  add("then: ", was, now)
  add("now:  ", now, was)
  return table.concat(out, "\n  ")
end

local compared = { "space", "sampler", "seed", "direction", "metric", "settings", "data" }

-- Returns the first line of the changes of the code, from the names of the script now and when the study began.
local function script_changed(now, was)
  if now == was then return ("the code of the trials in %s has changed since the study began"):format(now) end
  return ("the code of the trials in %s is not the code in %s, with which the study began"):format(now, was)
end

-- Returns lines that say why the whole script counts as code (parts that cannot be compared), or "".
local function unseen(script)
  local lines = {}
  for path, why in ("\n" .. script):gmatch "\nunseen ([^\n]-)\t([^\n]*)" do
    lines[#lines + 1] = ("\n  all of it counts, because of %s: %s"):format(path, why)
  end
  return table.concat(lines)
end

-- Returns the changes of a study's code since its row was stored, as text; nil if nothing changed. The second result is
-- false if the stored code has an older form and cannot be compared.
local function script_changes(was, now)
  local lines, comparable = code.changes(was.script, now.script, now.script_before)
  local explained = lines and lines:find("run.", 1, true) and " (run is the function of the trials; run.x is a "
    .. "variable x that it uses)" or ""
  return lines and explained .. ":\n" .. lines .. unseen(now.script), comparable
end

-- Returns the differences of a study's row in the store as text (nil for none), and the fields that differ.
local function changes(was, now)
  local parts, changed = {}, {}
  for _, field in ipairs(compared) do
    local a, b = tostring(was[field] or "none"), tostring(now[field] or "none")
    if a ~= b and not (field == "settings" and now.has_settings(a)) then
      local what = field == "sampler" and "sampler or pruner" or field
      parts[#parts + 1], changed[#changed + 1] = ("the %s changed:\n  %s"):format(what, M.difference(a, b)), field
    end
  end
  local lines, comparable = script_changes(was, now)
  if lines then
    parts[#parts + 1] = script_changed(now.script_name, was.script_name) .. lines
    changed[#changed + 1] = comparable and "script" or "form of the recorded code"
  end
  return parts[1] and table.concat(parts, "\n") or nil, changed
end

local told = {}

-- Warns once about options of mr.args that trials read, that `settings` does not contain, and that changed since the
-- first result. A change is not an error, because many options do not change results. Returns the study's text with the
-- earlier values of options.
local function tell_options(store, was, now)
  local text = code.joined(now.script, was.script)
  if not forced.has_results(store, was) then return text end
  local then_, lines, first = code.options(was.script), {}, nil
  local now_ = code.options(now.script)
  for _, name in ipairs(check.names(now_)) do
    local is_setting = ("\n" .. now.settings):find("\n" .. name .. " = ", 1, true)
    if then_[name] and then_[name] ~= now_[name] and not is_setting then
      lines[#lines + 1] = ("%s (then %s, now %s)"):format(usage.typed(name), then_[name], now_[name])
      first = first or name
    end
  end
  local key = store.path .. "\0" .. table.concat(lines, "\0")
  if #lines > 0 and not told[key] then
    told[key] = true
    check.warn(("mr.sweep: %s: trials of '%s' have results with other values of options that run reads: %s. If these "
      .. "change results, begin another study, and name them in settings: settings = {%s = args.%s}"):format(store.path,
      was.name, table.concat(lines, ", "), first, first))
  end
  return code.with_options(text, then_)
end

-- Returns true if the values of trials in the store are, or may be, values of another metric than this run's. In a
-- study without a metric, the values are those of the only number that its trials returned.
local function has_other_values(store, was, now)
  if was.metric == now.metric or not forced.has_results(store, was) then return false end
  local names = store:columns([[SELECT DISTINCT n.name FROM numbers n JOIN trials t ON t.id = n.trial WHERE t.study = ?1
    LIMIT 2]], was.id).name
  local only = #names == 1 and names[1] or nil
  return not only or (was.metric or only) ~= only or (now.metric or only) ~= only
end

-- Returns a sentence that says which value of the option `retry` runs a study's failed and killed trials again, or "".
-- A trial runs again while it has at most `retry` attempts.
local function retry_advice(store, study)
  local ended = store:columns([[SELECT count(*) AS n, max(attempts) AS attempts FROM trials WHERE study = ?1
    AND state IN ('failed', 'killed')]], study.id)
  local n = ended.n[1]
  if n == 0 then return "" end
  return (". %d failed or killed trial%s run%s again only with retry = %d"):format(n, n == 1 and "" or "s",
    n == 1 and "s" or "", ended.attempts[1])
end

---Returns true if the code of a study's trials is not the code that its row has.
---@param was table  the study's row in the store
function M.has_other_code(was, run, space) return script_changes(was, code_of(run, space, false)) ~= nil end

---Returns the study's row in the store, and creates the row if it is missing. It is an error if the study's space,
---sampler, seed, direction, metric, code, settings or data differ from those in the store, unless `force` is true. If
---trials have results, another metric is an error even with `force`, because they would keep values of the first
---metric.
---
---With `force`, the row of a changed study has the changes, but the store does not have them yet. The second result
---writes them. Without trials that will run, it writes only the metric and the direction, by which results are read:
---the study's trials are still all of the earlier script.
---@param now table  from `describe`
---@param force boolean
---@return fun(runs_some: boolean)? write
function M.enter(store, now, force)
  local was = store:study(now.name)
  if not was then return store:set_study(now) end
  local changed, fields = changes(was, now)
  if changed and has_other_values(store, was, now) then
    check.fail("mr.sweep: %s has a study '%s' already, and %s\n(values of its trials are %s, and force = true does not "
      .. "change them. Give the study of the other metric another name, or keep the metric)", store.path, now.name,
      changed, was.metric and "those of " .. was.metric or "the only number that a trial returned")
  end
  if changed and not force then
    check.fail("mr.sweep: %s has a study '%s' already, and %s\nPass another name to begin another study, or "
      .. "force = true to continue this one%s", store.path, now.name, changed, retry_advice(store, was))
  end
  now.script = tell_options(store, was, now)
  if changed then
    local row = store:with(was, now)
    forced.mark(store, row, fields)
    return row, function(runs_some)
      if runs_some then store:set_study(row) end
      for _, field in ipairs(runs_some and { "forced" } or { "metric", "direction" }) do store:set(row, field) end
    end
  end
  if now.script ~= was.script then
    was.script = now.script
    store:set(was, "script")
  end
  return was
end

return M
