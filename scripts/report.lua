-- One HTML file of the scripts' output: text, tables, figures (inline, as SVG), and the command that makes each. It is self-contained, on
-- screen and on paper.
local core = require "moonrank.core"
local escape = require("moonrank.table").escape_html
local document = require("moonrank.manual.page").document

local M = {}

local style = [[
body { font: 15px/1.45 sans-serif; color: #222; max-width: 1040px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin: 2.2em 0 0.4em; border-top: 1px solid #ccc; padding-top: 0.8em; }
table { border-collapse: collapse; font-size: 12px; margin: 0.8em 0; }
th, td { padding: 1px 8px; text-align: left; white-space: nowrap; } th { border-bottom: 1px solid #888; }
.number { text-align: right; font-variant-numeric: tabular-nums; } tbody tr:nth-child(even) { background: #f5f5f5; }
svg { max-width: 100%; height: auto; } code { background: #f2f2f2; padding: 1px 4px; } .wide { overflow-x: auto; }
nav a { margin-right: 1em; }
figure { margin: 0.8em 0; }
@page { margin: 14mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 10pt; } table { font-size: 6.2pt; } nav { display: none; }
  th, td { padding: 0 4px; } h2 { break-after: avoid; } tr, svg { break-inside: avoid; } thead { display: table-header-group; }
  .wide { overflow: visible; } }
]]

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- The figure without the lines before <svg; its ids made unique, since all figures are in one document.
local function inline(path, number)
  local svg = read(path):match "<svg.*</svg>"
  local function own(before, name) return ("%sf%d_%s"):format(before, number, name) end
  svg = svg:gsub("(%sid=['\"])([%w_]+)", own):gsub("(href=['\"]#)([%w_]+)", own):gsub("(url%(#)([%w_]+)", own)
  return svg
end

local function paragraphs(text)
  local parts = {}
  for line in text:gmatch "[^\n]+" do parts[#parts + 1] = escape(line) end
  return "<p>" .. table.concat(parts, "\n") .. "</p>\n"
end

---@class report.Section
---@field title string
---@field command string
---@field text string
---@field tables mr.Table[]
---@field figure? string   file, SVG

local function section_text(each, number)
  local parts = { ('<section id="s%d"><h2>%s</h2>\n'):format(number, escape(each.title)) }
  if each.figure then parts[#parts + 1] = "<figure>" .. inline(each.figure, number) .. "</figure>\n" end
  parts[#parts + 1] = paragraphs(each.text)
  for _, one in ipairs(each.tables) do parts[#parts + 1] = '<div class="wide">' .. one:to_html() .. "</div>\n" end
  parts[#parts + 1] = "<p>Made by <code>" .. escape(each.command) .. "</code></p></section>\n"
  return table.concat(parts)
end

---Writes the report.
---@param path string
---@param o { title: string, text: string, sections: report.Section[] }
function M.write(path, o)
  local links, parts = {}, {}
  for i, each in ipairs(o.sections) do
    links[i] = ('<a href="#s%d">%s</a>'):format(i, escape(each.title))
    parts[i] = section_text(each, i)
  end
  core.write_file(path, document(o.title, style, table.concat{ "<h1>", escape(o.title), "</h1>\n", paragraphs(o.text), "<nav>",
    table.concat(links, "\n"), "</nav>\n", table.concat(parts) }))
end

return M
