-- Makes the pages of `moonrank serve` about studies: the list of studies, and a study with figures and trials.
local chart = require "moonrank.serve.chart"
local filter = require "moonrank.serve.filter"
local html = require "moonrank.serve.html"
local read = require "moonrank.serve.read"
local request = require "moonrank.serve.request"
local digits = require "moonrank.system.digits"
local states = require("moonrank.results.left_out").states
local text = html.text

local M = {}

local rows_per_page <const> = 200
local pages_around <const> = 25  -- a page of trials has links to this many pages before it and after it
local most_curves <const> = 80
local most_slices <const> = 8

---Returns the target of a study's page.
function M.target(study, more) return request.target("/study", { { "name", study.name }, table.unpack(more or {}) }) end

---Returns the target of a trial's page.
function M.trial_target(study, number)
  return request.target("/trial", { { "study", study.name }, { "number", number } })
end

-- Returns a bar (SVG) that shows which share of the planned trials is in each state.
local function bar(study)
  local whole, x, parts = math.max(study.planned or 0, study.total, 1), 0.0, {}
  for _, state in ipairs(states) do
    local share = 200.0 * (study.counts[state] or 0) / whole
    if share > 0 then
      parts[#parts + 1] = ('<rect class="%s" x="%.2f" width="%.2f" height="8"/>'):format(state, x, share)
    end
    x = x + share
  end
  return ('<svg class="bar" viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true">%s</svg>'):format(
    table.concat(parts))
end

local function counts_of(study)
  local parts = {}
  for _, state in ipairs(states) do
    local count = study.counts[state]
    if count then parts[#parts + 1] = ('<span class="state %s">%d %s</span>'):format(state, count, state) end
  end
  local planned = study.planned and (" <span class=\"dim\">of %d</span>"):format(study.planned) or ""
  return (#parts > 0 and table.concat(parts, " ") or '<span class="dim">no trials</span>') .. planned
end

---Returns the page with the studies of a store, as a table: title, path, body (HTML) and live, as for html.page.
function M.index(store)
  local studies, rows = read.studies(store), {}
  for i, study in ipairs(studies) do
    rows[i] = ('<tr><td>%s</td><td>%s%s</td><td>%s</td><td class="n">%s</td><td class="dim">%s</td></tr>'):format(
      html.link(M.target(study), text(study.name)), bar(study), counts_of(study),
      text(study.metric or "value") .. (study.direction == "minimize" and " &darr;" or " &uarr;"),
      html.value(study.best), text(study.last or study.created))
  end
  local head = { "<th>study</th>", "<th>trials</th>", "<th>metric</th>", '<th class="n">best</th>',
    "<th>last change (UTC)</th>" }
  local body = #rows > 0 and html.table(head, rows, "list")
    or '<p class="note">This store has no studies yet. A sweep that runs with this store appears here.</p>'
  local note = store:note()
  return { title = store.path, path = { { store.path } }, live = true,
    body = ("<h1>Studies</h1>%s%s"):format(body, note and '<p class="note">' .. text(note) .. "</p>" or "") }
end

-- Adds a dot for a trial to a figure. If `is_named`, it links to the trial, and its title begins with `words`.
local function add_dot(dots, study, trial, x, is_named, words, ...)
  local class = "dot " .. html.state_class(trial.state)
  if is_named then
    table.insert(dots.named, { points = { { x, trial.value } }, class = class, target = M.trial_target(study,
      trial.number), title = ("%s: %.5g"):format(words:format(trial.number, ...), trial.value) })
    return
  end
  local group = dots[class]
  if not group then
    group = { class = class, x = {}, y = {} }
    dots[class], dots.plain[#dots.plain + 1] = group, group
  end
  local n = #group.x + 1
  group.x[n], group.y[n] = x, trial.value
end

local function history(study, trials)
  local dots, steps, best, sign = { named = {}, plain = {} }, {}, nil, study.direction == "minimize" and -1 or 1
  local few = #trials <= chart.most_named
  for _, trial in ipairs(trials) do
    local value = trial.value
    if value and value == value then
      local is_best = trial.state == "done" and (not best or sign * value > sign * best)
      add_dot(dots, study, trial, trial.number, few or is_best, "trial %d")
      if is_best then
        if best then steps[#steps + 1] = { trial.number, best } end
        best = value
      end
      if best and (is_best or trial == trials[#trials]) then steps[#steps + 1] = { trial.number, best } end
    end
  end
  if #dots.named + #dots.plain == 0 then return "" end
  local lines = { { points = steps, class = "line best", title = "best so far" } }
  return chart.figure{ title = "Value of each trial, and the best so far", x = "trial", y = study.metric or "value",
    dots = dots.named, plain = dots.plain, lines = #steps > 0 and lines or {}, whole_x = true }
end

-- Returns the trials whose curves are drawn: the best trial, all running trials, and the latest of the other trials.
local function chosen(trials, best)
  local out, rest = {}, most_curves
  for i = #trials, 1, -1 do
    local trial = trials[i]
    if trial == best or trial.state == "running" or rest > 0 then
      out[#out + 1] = trial
      rest = rest - 1
    end
  end
  table.sort(out, function(a, b) return a.number < b.number end)
  return out
end

local function curves(store, study, trials, asked)
  local best = read.best(study, trials)
  local drawn, lines = chosen(trials, best), {}
  local names = read.curve_names(store, drawn)
  if #names == 0 then return "" end
  local name, known, links = study.metric, {}, {}
  for _, each in ipairs(names) do known[each] = true end
  name = known[asked] and asked or known[name] and name or names[1]
  local found = read.curves(store, drawn, name)
  for _, trial in ipairs(drawn) do
    local points = found[trial.id][name]
    if points then
      local class = trial == best and "best" or html.state_class(trial.state)
      lines[#lines + 1] = { points = points, class = "line " .. class,
        title = ("trial %d (%s)"):format(trial.number, trial.state), target = M.trial_target(study, trial.number) }
    end
  end
  if #lines == 0 then return "" end
  table.sort(lines, function(a, b) return b.class == "line best" and a.class ~= "line best" end)
  for i, each in ipairs(names) do
    links[i] = each == name and "<strong>" .. text(each) .. "</strong>"
      or html.link(M.target(study, { { "curve", each } }), text(each))
  end
  return chart.figure{ title = ("Reports during training: %s, %d trials"):format(name, #lines), x = "step", y = name,
    lines = lines, whole_x = true, legend = #names > 1 and '<p class="choices">' .. table.concat(links, " ") .. "</p>" }
end

local function slices(study, trials, params)
  local out = {}
  for _, name in ipairs(params) do
    local dots, whole, count = { named = {}, plain = {} }, true, 0
    for _, trial in ipairs(#out < most_slices and trials or {}) do
      local x = trial.params[name]
      whole = whole and (x == nil or math.type(x) == "integer")
      if x ~= nil and trial.state == "done" and trial.value then
        count = count + 1
        add_dot(dots, study, trial, x, #trials <= chart.most_named, "trial %d: %s = %s", name, x)
      end
    end
    if count > 1 then
      out[#out + 1] = chart.figure{ title = "By " .. name, x = name, y = study.metric or "value",
        dots = dots.named, plain = dots.plain, log_x = not whole, whole_x = whole }
    end
  end
  if #out == 0 then return "" end
  return '<section id="slices"><h2>Value by parameter</h2><div class="figures">' .. table.concat(out)
    .. "</div></section>"
end

local function is_before(x, y)
  if type(x) == "number" and type(y) == "number" then return x < y end
  return tostring(x) < tostring(y)
end

-- Sorts trials, which are in the order of numbers, by a column. Trials without a value there come last.
local function sorted(trials, column, down)
  if column == "trial" and not down then return trials end
  local out, without, cells, places = {}, {}, {}, {}
  for i, trial in ipairs(trials) do
    local x = trial.cells[column]
    local list = (x == nil or x ~= x) and without or out
    list[#list + 1], cells[trial], places[trial] = trial, x, i
  end
  table.sort(out, function(a, b)
    local x, y = cells[a], cells[b]
    if x ~= y then
      if down then x, y = y, x end
      if is_before(x, y) then return true end
      if is_before(y, x) then return false end
    end
    return places[a] < places[b]
  end)
  return table.move(without, 1, #without, #out + 1, out)
end

local function head_cell(study, values, name, label, is_number)
  local is_sorted, down = values.sort == name, values.down == "1"
  local target = M.target(study, { { "q", values.q }, { "curve", values.curve }, { "sort", name },
    { "down", is_sorted and not down and "1" or nil } })
  local mark = is_sorted and (down and " &darr;" or " &uarr;") or ""
  local kind = is_sorted and (down and ' aria-sort="descending"' or ' aria-sort="ascending"') or ""
  return ("<th%s%s>%s</th>"):format(is_number and ' class="n"' or "", kind, html.link(target, text(label) .. mark))
end

-- Returns the set of the columns in which at least one trial has a text.
local function texts_of(trials, columns)
  local found = {}
  for _, trial in ipairs(trials) do
    for _, name in ipairs(columns) do
      if type(trial.cells[name]) == "string" then found[name] = true end
    end
  end
  return found
end

local function row_of(study, trial, columns, texts, is_best)
  local cells = { ('<td><input type="checkbox" name="trial" value="%d" aria-label="compare trial %d"></td>'):format(
    trial.number, trial.number), '<td class="n">' .. html.link(M.trial_target(study, trial.number), trial.number)
    .. "</td>", "<td>" .. html.state(trial.state) .. "</td>", '<td class="n">' .. html.value(trial.value) .. "</td>" }
  for _, name in ipairs(columns) do
    cells[#cells + 1] = (texts[name] and "<td>" or '<td class="n">') .. html.value(trial.cells[name]) .. "</td>"
  end
  cells[#cells + 1] = '<td class="n">' .. html.duration(trial.wall) .. "</td>"
  return (is_best and '<tr class="best">' or "<tr>") .. table.concat(cells) .. "</tr>"
end

local function table_of(study, trials, columns, values, best)
  local page = math.max(1, math.tointeger(tonumber(values.page)) or 1)
  local first = math.min((page - 1) * rows_per_page, #trials)
  local shown = table.move(trials, first + 1, math.min(first + rows_per_page, #trials), 1, {})
  local texts = texts_of(shown, columns)
  local head = { '<th><span class="hidden">compare</span></th>', head_cell(study, values, "trial", "trial", true),
    head_cell(study, values, "state", "state"), head_cell(study, values, "value", study.metric or "value", true) }
  for _, name in ipairs(columns) do head[#head + 1] = head_cell(study, values, name, name, not texts[name]) end
  head[#head + 1] = head_cell(study, values, "seconds", "time", true)
  local rows = {}
  for i, trial in ipairs(shown) do rows[i] = row_of(study, trial, columns, texts, trial == best) end
  local pages, count = {}, math.ceil(#trials / rows_per_page)
  for i = 1, count > 1 and count or 0 do
    if i == page then
      pages[#pages + 1] = "<strong>" .. i .. "</strong>"
    elseif math.abs(i - page) <= pages_around or i == 1 or i == count then
      pages[#pages + 1] = html.link(M.target(study, { { "q", values.q }, { "curve", values.curve },
        { "sort", values.sort }, { "down", values.down }, { "page", i } }), i)
    end
  end
  return html.table(head, rows, "trials")
    .. (#pages > 0 and '<p class="choices">page ' .. table.concat(pages, " ") .. "</p>" or "")
end

local function filter_form(study, values, problems)
  local hidden = {}
  for _, name in ipairs{ "sort", "down", "curve" } do
    if values[name] then
      hidden[#hidden + 1] = ('<input type="hidden" name="%s" value="%s">'):format(name, text(values[name]))
    end
  end
  return ([[<form id="filter" action="/study" role="search"><input type="hidden" name="name" value="%s">%s
<label for="q">Filter</label><input id="q" type="search" name="q" value="%s" placeholder="loss=ap lr&lt;0.01 done"
autocomplete="off" spellcheck="false"><button>Show</button></form><div id="problems">%s</div>]]):format(
    text(study.name), table.concat(hidden), text(values.q or ""),
    #problems > 0 and '<p class="note">' .. text(table.concat(problems, ". ")) .. "</p>" or "")
end

local function about(study, best)
  local found = best and html.link(M.trial_target(study, best.number), "trial " .. best.number)
  local tiles = {
    { "trials", counts_of(study) },
    { "best " .. (study.metric or "value"), best and "<strong>" .. html.value(best.value) .. "</strong> " .. found
      or "&ndash;" },
    { "direction", text(study.direction) }, { "sampler", text(study.sampler) }, { "script", text(study.script_name) },
    { "last change (UTC)", text(study.last or study.created) },
  }
  local parts = {}
  for i, tile in ipairs(tiles) do parts[i] = ("<div><dt>%s</dt><dd>%s</dd></div>"):format(text(tile[1]), tile[2]) end
  return '<dl class="tiles">' .. table.concat(parts) .. "</dl>" .. bar(study)
end

---Returns the page of the study `values.name`, as a table: title, path, body (HTML) and live. Returns nil if the store
---has no such study. Other `values` of the query are q (the filter), sort, down, page and curve.
function M.page(store, values)
  local study = read.study(store, values.name or "")
  if not study then return nil end
  local all, params, _, columns = read.trials(store, study)
  local known = { trial = true, state = true, value = true, seconds = true }
  for _, name in ipairs(columns) do known[name] = true end
  if study.metric then known[study.metric] = true end
  local keep, problems = filter.new(values.q or "", known)
  local trials = {}
  for _, trial in ipairs(all) do
    if keep(trial) then trials[#trials + 1] = trial end
  end
  local best = read.best(study, all)
  local order = known[values.sort] and values.sort or "trial"
  local shown = sorted(trials, order, values.down == "1")
  local figures = history(study, trials) .. curves(store, study, trials, values.curve)
  local body = { "<h1>", text(study.name), '</h1><div id="about">', about(study, best), "</div>",
    '<div id="figures" class="figures">', figures, "</div>", "<h2>Trials</h2>", filter_form(study, values, problems),
    '<form action="/compare"><input type="hidden" name="study" value="', text(study.name),
    '"><p class="actions"><button>Compare selected</button> <span id="count" class="dim">',
    #trials == #all and ("%d trials"):format(#all) or ("%d of %d trials"):format(#trials, #all),
    '</span></p><div id="trials">', table_of(study, shown, columns, values, best), "</div></form>",
    slices(study, trials, params), '<details><summary>Space of parameters</summary><pre>',
    text(digits.shortened(study.space)), "</pre></details>" }
  return { title = study.name, path = { { store.path, "/" }, { study.name } }, body = table.concat(body), live = true }
end

return M
