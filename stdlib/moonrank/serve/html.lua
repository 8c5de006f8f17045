-- Makes HTML for the pages of `moonrank serve`: escapes texts from a store, and formats numbers.
local core = require "moonrank.core"
local escape_html = require("moonrank.table").escape_html
local progress = require "moonrank.system.progress"

local M = {}

---Returns a value as HTML text. Control characters and invalid UTF-8 are shown as escapes.
---Example: `require("moonrank.serve.html").text "<b>"   --> &lt;b&gt;`
function M.text(value) return escape_html(core.safe_text(tostring(value), true)) end

---Returns a number, text or boolean of a store as HTML text, floats with five significant digits; a dash for nil.
---Example: `require("moonrank.serve.html").value(0.123456789)   --> 0.12346`
function M.value(value)
  if value == nil then return "&ndash;" end
  if math.type(value) == "float" then
    if value ~= value then return "nan" end
    return (("%.5g"):format(value):gsub("^-", "&minus;"))
  end
  return M.text(value)
end

---Returns a duration as text.
---@param seconds any  nil gives a dash
---Example: `require("moonrank.serve.html").duration(90)   --> 1 min 30 s`
function M.duration(seconds)
  if type(seconds) ~= "number" or seconds ~= seconds then return "&ndash;" end
  return progress.duration(seconds)
end

---Returns a number of bytes as text.
---Example: `require("moonrank.serve.html").bytes(3 << 20)   --> 3.0 MiB`
function M.bytes(bytes)
  if type(bytes) ~= "number" then return "&ndash;" end
  if bytes < 1 << 30 then return ("%.1f MiB"):format(bytes / (1 << 20)) end
  return ("%.1f GiB"):format(bytes / (1 << 30))
end

---Returns a link; `target` is escaped, `inside` is HTML.
function M.link(target, inside, attributes)
  return ('<a href="%s"%s>%s</a>'):format(escape_html(target), attributes or "", inside)
end

local states = {}
for _, state in ipairs(require("moonrank.results.left_out").states) do states[state] = true end

---Returns the name of a trial's state as a CSS class; "other" for a state that is not known.
function M.state_class(state) return states[state] and state or "other" end

---Returns the name of a trial's state as a coloured mark, in HTML.
function M.state(state) return ('<span class="state %s">%s</span>'):format(M.state_class(state), M.text(state)) end

---Returns an HTML table in a box that scrolls if it is wider than the page.
---@param head string[]  HTML of the cells of the first row, with th elements
---@param rows string[]  HTML of the further rows, with tr elements
function M.table(head, rows, class)
  return ('<div class="wide" tabindex="0"><table class="%s"><thead><tr>%s</tr></thead><tbody>%s</tbody></table></div>')
    :format(class or "", table.concat(head), table.concat(rows, "\n"))
end

---Returns a list of names and values as an HTML table, or "none"; `rows` are pairs of a text and HTML.
function M.facts(rows)
  if #rows == 0 then return '<p class="dim">none</p>' end
  local lines = {}
  for i, row in ipairs(rows) do lines[i] = ("<tr><th>%s</th><td>%s</td></tr>"):format(M.text(row[1]), row[2]) end
  return '<div class="wide" tabindex="0"><table class="facts">' .. table.concat(lines) .. "</table></div>"
end

local icon = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' "
  .. "cy='8' r='7' fill='%230b57a4'/%3E%3Ccircle cx='11' cy='6' r='6' fill='%23fff'/%3E%3C/svg%3E"

---Returns a whole page of `moonrank serve` as HTML.
---@param path { [1]: string, [2]: string? }[]  text and link target of each page above this one, then of this page
---@param body string  HTML
---@param live boolean  whether the browser's script refreshes the page
---@param state? string  of the store, without which the script cannot ask whether it changed
function M.page(title, path, body, live, state)
  local places = {}
  for i, place in ipairs(path) do
    places[i] = place[2] and M.link(place[2], M.text(place[1])) or "<span>" .. M.text(place[1]) .. "</span>"
  end
  return table.concat{ '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>', M.text(title),
    ' - Moonrank</title><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="icon" href="', icon, '"><link rel="stylesheet" href="/app.css">',
    '<script src="/app.js" defer></script></head>\n<body', live and ' data-live="2000"' or "",
    state and state ~= "" and ' data-state="' .. state .. '"' or "", "><header><strong>",
    M.link("/", "Moonrank"), '</strong><nav aria-label="place">', table.concat(places, '<span class="sep">/</span>'),
    '</nav><span id="pulse" role="status"></span></header>\n<main>', body, "</main></body></html>\n" }
end

return M
