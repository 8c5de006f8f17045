-- Writes one HTML file with the output of many scripts: main findings, a table of contents by document, then each
-- section's text, tables, figures (inline SVG) and command. The file needs no other files, and is readable on light
-- and dark screens, phones and paper.
local core = require "moonrank.core"
local escape = require("moonrank.table").escape_html
local document = require("moonrank.manual.page").document

local M = {}

local style = [[
:root { color-scheme: light dark; --text: #1d2126; --back: #fff; --soft: #f4f5f7; --line: #d5d9de; --dim: #5c6670; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --text: #dde2e7; --back: #15181c; --soft: #1f2429; --line: #3a424a; --dim: #98a2ad;
  --link: #7db6f2; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; } a:hover, a:focus { text-decoration: underline; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.4rem; margin: 3rem 0 0.4rem; padding-top: 0.8rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.2rem 0 0.4rem; } p { max-width: 46rem; }
table { border-collapse: collapse; font-size: 0.82rem; margin: 0.8rem 0; }
th, td { padding: 1px 8px; text-align: left; white-space: nowrap; }
th { border-bottom: 1px solid var(--dim); vertical-align: bottom; white-space: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; } tbody tr:nth-child(even) { background: var(--soft); }
.wide { overflow-x: auto; } figure { margin: 0.8rem 0; background: #fff; border-radius: 4px; overflow-x: auto; }
svg { max-width: 100%; height: auto; } code { background: var(--soft); padding: 1px 4px; font-size: 0.85em; }
.caption { font-weight: 600; font-size: 0.9rem; margin: 1.4rem 0 0; }
.made { color: var(--dim); font-size: 0.85rem; } nav ul { list-style: none; padding: 0; columns: 18rem; } nav li { break-inside: avoid; }
nav .document { font-weight: 600; margin-top: 0.6rem; break-after: avoid; }
@page { margin: 14mm; }
@media print { :root { --text: #000; --back: #fff; --soft: #f4f4f4; --line: #bbb; --dim: #444; --link: #000; }
  body { max-width: none; margin: 0; padding: 0; font-size: 10pt; } table { font-size: 6.2pt; }
  th, td { padding: 0 4px; white-space: normal; }
  h2 { break-before: page; } #out h2 { break-before: auto; } h2, h3, .caption { break-after: avoid; }
  tr, svg { break-inside: avoid; } thead { display: table-header-group; }
  .wide, figure { overflow: visible; } }
@media screen and (max-width: 40rem) { svg { max-width: none; } .number, th, td { padding: 1px 6px; } }
]]

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- Returns the <svg> element of a figure's file. Its ids get a prefix with the figure's number, because all figures
-- are in one HTML file and ids must be unique.
local function inline(path, number)
  local svg = read(path):match "<svg.*</svg>"
  local function own(before, name) return ("%sf%d_%s"):format(before, number, name) end
  svg = svg:gsub("(%sid=['\"])([%w_]+)", own):gsub("(href=['\"]#)([%w_]+)", own):gsub("(url%(#)([%w_]+)", own)
  return svg
end

local function paragraphs(text)
  local parts = {}
  for part in (text .. "\n\n"):gmatch "(.-)\n\n+" do
    if part:find "%S" then parts[#parts + 1] = "<p>" .. escape(part) .. "</p>\n" end
  end
  return table.concat(parts)
end

---One section of a report: what one script shows.
---@class report.Section
---@field title string
---@field command string   command that makes the section
---@field text string      paragraphs, separated by blank lines
---@field tables mr.Table[]
---@field captions? string[]  heading of each table; "" for none
---@field legends? string[]  meaning of each table's columns; "" for none
---@field cells? mr.experiment.Cells[]  intervals and numbers of runs for the cells of each table
---@field trainings? integer  number of models that a script trained without storing its runs
---@field figure? string     path of a figure's SVG file
---@field figures? string[]  paths of further figures
---@field finding? string    main finding in one sentence; nil for made-up data
---@field lacking? boolean   whether the section shows only a part or nothing: runs are missing, --kept forbids training
---@field forced? boolean    whether runs of the section were continued with --force after a change
---@field agreement? { of: integer, within: integer, tolerance: string }  of: number of printed numbers that were
---   compared; within: number of them within the tolerance

---The part of a report on one paper: sections under the paper's title.
---@class report.Document
---@field title string
---@field text? string  paragraphs below the title
---@field sections report.Section[]

-- Returns a section of the report as HTML. `level` is the level of its heading, `id` its HTML id. `figures.count` is
-- the number of figures in the report before this section, and is increased by the section's figures.
local function section_text(each, level, id, figures)
  local parts = { ('<section id="%s"><h%d>%s</h%d>\n'):format(id, level, escape(each.title), level),
    paragraphs(each.text) }
  local files = { each.figure }
  for _, file in ipairs(each.figures or {}) do files[#files + 1] = file end
  for _, file in ipairs(files) do
    figures.count = figures.count + 1
    parts[#parts + 1] = "<figure>" .. inline(file, figures.count) .. "</figure>\n"
  end
  for i, one in ipairs(each.tables or {}) do
    local caption = each.captions and each.captions[i] or ""
    if caption ~= "" then parts[#parts + 1] = '<p class="caption">' .. escape(caption) .. "</p>\n" end
    local legend = each.legends and each.legends[i] or ""
    parts[#parts + 1] = '<div class="wide">' .. one:to_html() .. "</div>\n" .. paragraphs(legend)
  end
  if each.command then
    parts[#parts + 1] = '<p class="made">Made by <code>' .. escape(each.command) .. "</code></p>\n"
  end
  parts[#parts + 1] = "</section>\n"
  return table.concat(parts)
end

---Writes the report as an HTML file: its title and `text`, the opening section, a table of
---contents, and the documents (papers with their sections). If there is only one document and no
---opening, the document gets no heading.
---@param path string  path of the HTML file
---@param o { title: string, text: string, opening?: report.Section, documents: report.Document[] }
function M.write(path, o)
  local links, parts, figures, alone = {}, {}, { count = 0 }, #o.documents == 1 and not o.opening
  local opening = o.opening and section_text(o.opening, 2, "out", figures) or ""
  for d, one in ipairs(o.documents) do
    if not alone then
      links[#links + 1] = ('<li class="document"><a href="#d%d">%s</a></li>'):format(d, escape(one.title))
      parts[#parts + 1] = ('<h2 id="d%d">%s</h2>\n%s'):format(d, escape(one.title), paragraphs(one.text or ""))
    end
    for s, each in ipairs(one.sections) do
      local id = ("d%ds%d"):format(d, s)
      links[#links + 1] = ('<li><a href="#%s">%s</a></li>'):format(id, escape(each.title))
      parts[#parts + 1] = section_text(each, alone and 2 or 3, id, figures)
    end
  end
  core.write_file(path, document(o.title, style, table.concat{ "<h1>", escape(o.title), "</h1>\n", paragraphs(o.text),
    opening, '<nav aria-label="Contents"><ul>\n', table.concat(links, "\n"), "</ul></nav>\n", table.concat(parts) }))
end

return M
