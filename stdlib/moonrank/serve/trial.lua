-- Makes the pages of `moonrank serve` about one trial, and about several trials side by side.
local chart = require "moonrank.serve.chart"
local check = require "moonrank.check"
local html = require "moonrank.serve.html"
local read = require "moonrank.serve.read"
local studies = require "moonrank.serve.study"
local text = html.text

local M = {}

local most_compared <const> = 12

local function curves_of(store, trial)
  local found, figures = read.curves(store, { trial })[trial.id], {}
  local names = check.names(found)
  for _, name in ipairs(names) do
    figures[#figures + 1] = chart.figure{ title = name, x = "step", y = name, whole_x = true,
      lines = { { points = found[name], class = "line best", title = name } } }
  end
  if #figures == 0 then return "" end
  local by_step, steps, rows = {}, {}, {}
  for _, name in ipairs(names) do
    for _, point in ipairs(found[name]) do
      if not by_step[point[1]] then by_step[point[1]], steps[#steps + 1] = {}, point[1] end
      by_step[point[1]][name] = point[2]
    end
  end
  table.sort(steps)
  local head = { '<th class="n">step</th>' }
  for i, name in ipairs(names) do head[i + 1] = '<th class="n">' .. text(name) .. "</th>" end
  for i, step in ipairs(steps) do
    local cells = { '<td class="n">' .. html.value(step) .. "</td>" }
    for c, name in ipairs(names) do cells[c + 1] = '<td class="n">' .. html.value(by_step[step][name]) .. "</td>" end
    rows[i] = "<tr>" .. table.concat(cells) .. "</tr>"
  end
  return '<h2>Reports during training</h2><div class="figures">' .. table.concat(figures) .. "</div><details><summary>"
    .. #steps .. " steps as a table</summary>" .. html.table(head, rows, "steps") .. "</details>"
end

local function parameters_of(trial)
  local rows = {}
  for i, name in ipairs(check.names(trial.params)) do rows[i] = { name, html.value(trial.params[name]) } end
  if trial.params_problem then
    return '<p class="note">The parameters cannot be read: ' .. text(trial.params_problem) .. "</p>"
  end
  return html.facts(rows)
end

local function numbers_of(trial)
  local rows = {}
  for i, each in ipairs(trial.numbers) do
    rows[i] = { each.name, each.value and html.value(each.value) or "nan" }
  end
  return html.facts(rows)
end

local function data_of(store, study, trial)
  local found = store:data(study, trial.number)[trial.number]
  local parts = {}
  for i, each in ipairs(found and found.entries or {}) do
    parts[i] = text(("%s: %s (%s)"):format(each.role, each.what, each.fingerprint))
  end
  return #parts > 0 and table.concat(parts, "<br>") or "&ndash;"
end

local function run_of(store, study, trial)
  local function known(value) return value and value ~= "" and text(value) or "&ndash;" end
  local rows = { { "seed", html.value(trial.seed) }, { "attempts", html.value(trial.attempts) },
    { "started (UTC)", known(trial.started) }, { "ended (UTC)", known(trial.ended) },
    { "time", html.duration(trial.wall) }, { "memory", html.bytes(trial.memory) }, { "device", known(trial.device) },
    { "version", known(trial.version) }, { "numerics version", known(trial.numerics) },
    { "script", known(study.script_name) }, { "settings", known(study.settings) },
    { "data", data_of(store, study, trial) } }
  return html.facts(rows)
end

local function neighbours(store, study, number)
  local found = store:rows([[SELECT max(CASE WHEN number < ?2 THEN number END) AS before,
    min(CASE WHEN number > ?2 THEN number END) AS after FROM trials WHERE study = ?1]], study.id, number)[1]
  local parts = {}
  if found.before then
    parts[1] = html.link(studies.trial_target(study, found.before), "&larr; trial " .. found.before)
  end
  if found.after then
    parts[#parts + 1] = html.link(studies.trial_target(study, found.after), "trial " .. found.after .. " &rarr;")
  end
  return '<p class="choices">' .. table.concat(parts, " ") .. "</p>"
end

---Returns the page of the trial `values.number` of the study `values.study`, as a table: title, path, body (HTML) and
---live. Returns nil if there is no such trial.
function M.page(store, values)
  local study = read.study(store, values.study or "")
  local number = math.tointeger(tonumber(values.number))
  local trial = study and number and read.trial(store, study, number)
  if not trial then return nil end
  local log = ""
  if trial.reason or trial.traceback then
    local lines = trial.reason or ""
    if trial.traceback and trial.traceback ~= "" then lines = lines .. "\n" .. trial.traceback end
    log = "<h2>Why it ended</h2><pre>" .. text(lines) .. "</pre>"
  end
  local body = { "<h1>Trial ", trial.number, " ", html.state(trial.state), "</h1>", neighbours(store, study, number),
    '<div id="trial"><dl class="tiles"><div><dt>', text(study.metric or "value"), "</dt><dd><strong>",
    html.value(trial.value), "</strong></dd></div><div><dt>time</dt><dd>", html.duration(trial.wall),
    "</dd></div><div><dt>seed</dt><dd>", html.value(trial.seed), "</dd></div></dl>", log, curves_of(store, trial),
    '<div class="columns"><section><h2>Parameters</h2>', parameters_of(trial), "</section><section><h2>Numbers</h2>",
    numbers_of(trial), "</section><section><h2>Run</h2>", run_of(store, study, trial), "</section></div></div>" }
  return { title = ("trial %d of %s"):format(number, study.name), body = table.concat(body),
    path = { { store.path, "/" }, { study.name, studies.target(study) }, { "trial " .. number } },
    live = trial.state == "running" or trial.state == "paused" }
end

-- Returns the trials whose numbers are in the request's query, in the order of the query, at most `most_compared`.
local function picked(all, numbers)
  local by_number, out = {}, {}
  for _, trial in ipairs(all) do by_number[trial.number] = trial end
  for _, word in ipairs(numbers or {}) do
    local trial = by_number[math.tointeger(tonumber(word))]
    if trial and #out < most_compared then
      out[#out + 1] = trial
      by_number[trial.number] = nil
    end
  end
  return out
end

local function row_of(trials, label, cell)
  local cells, differs, first = {}, false, nil
  for i, trial in ipairs(trials) do
    local shown = cell(trial)
    first = first or shown
    differs = differs or shown ~= first
    cells[i] = '<td class="n">' .. shown .. "</td>"
  end
  return ("<tr%s><th>%s</th>%s</tr>"):format(differs and ' class="differs"' or "", text(label), table.concat(cells))
end

local function comparison(study, trials, params, numbers)
  local head, rows = { "<th></th>" }, {}
  for i, trial in ipairs(trials) do
    head[i + 1] = ('<th class="n"><span class="key c%d"></span> %s</th>'):format(i,
      html.link(studies.trial_target(study, trial.number), "trial " .. trial.number))
  end
  local function add(label, cell) rows[#rows + 1] = row_of(trials, label, cell) end
  local function part(label)
    rows[#rows + 1] = ('<tr class="part"><th colspan="%d">%s</th></tr>'):format(#trials + 1, label)
  end
  add("state", function(trial) return html.state(trial.state) end)
  add(study.metric or "value", function(trial) return "<strong>" .. html.value(trial.value) .. "</strong>" end)
  add("time", function(trial) return html.duration(trial.wall) end)
  if #params > 0 then part "parameters" end
  for _, name in ipairs(params) do add(name, function(trial) return html.value(trial.params[name]) end) end
  if #numbers > 0 then part "numbers" end
  for _, name in ipairs(numbers) do add(name, function(trial) return html.value(trial.cells[name]) end) end
  return html.table(head, rows, "compare")
end

local function overlaid(store, study, trials)
  local found, figures = read.curves(store, trials), {}
  for _, name in ipairs(read.curve_names(store, trials)) do
    local lines = {}
    for i, trial in ipairs(trials) do
      local points = found[trial.id][name]
      if points then
        lines[#lines + 1] = { points = points, class = "line c" .. i, title = "trial " .. trial.number,
          target = studies.trial_target(study, trial.number) }
      end
    end
    if #lines > 0 then
      figures[#figures + 1] = chart.figure{ title = name, x = "step", y = name, lines = lines, whole_x = true }
    end
  end
  return #figures > 0 and '<h2>Reports during training</h2><div class="figures">' .. table.concat(figures) .. "</div>"
    or ""
end

---Returns the page that compares up to 12 trials of the study `values.study`; nil if there is no such study.
---`all.trial` has the numbers of the trials. The page is a table: title, path, body (HTML) and live.
function M.compare(store, values, all)
  local study = read.study(store, values.study or "")
  if not study then return nil end
  local trials, params, numbers = read.trials(store, study)
  trials = picked(trials, all.trial)
  local body = '<p class="note">No trials are selected. Tick trials in the table of the study, and press '
    .. "&ldquo;Compare selected&rdquo;.</p>"
  if #trials > 0 then
    body = comparison(study, trials, params, numbers) .. '<p class="dim">Rows in which trials differ are marked.'
      .. (#all.trial > most_compared and (" The first %d trials are shown."):format(most_compared) or "") .. "</p>"
      .. overlaid(store, study, trials)
  end
  return { title = "comparison in " .. study.name, body = "<h1>Comparison</h1>" .. body, live = false,
    path = { { store.path, "/" }, { study.name, studies.target(study) }, { "comparison" } } }
end

return M
