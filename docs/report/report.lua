-- Writes one HTML file with the output of many scripts: findings, then each section's text, figures (inline SVG),
-- tables and command, and a glossary. The file needs no other files, and is readable on light and dark screens, phones
-- and paper. Columns, tables and texts without content are left out.
local core = require "moonrank.core"
local escape = require("moonrank.table").escape_html
local document = require("moonrank.manual.page").document
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local reading, glossary = dofile(here .. "reading.lua"), dofile(here .. "glossary.lua")

local M = {}

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
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
---@field verdicts? scripts.Verdict[]  claims that the section decides, and whether they hold (verdicts.lua)
---@field lacking? boolean   whether the section shows only a part or nothing: runs are missing, --kept forbids training
---@field forced? boolean    whether runs of the section were continued with --force after a change
---@field agreement? { of: integer, within: integer, tolerance: string }  of: number of printed numbers that were
---   compared; within: number of them within the tolerance

---The part of a report on one paper: sections under the paper's title.
---@class report.Document
---@field title string
---@field short string  authors and year, for the side navigation
---@field text? string  paragraphs below the title
---@field sections report.Section[]

-- Wraps a table or figure, which scrolls sideways if it is wider than the page. A hint above it then says so.
local function box(html)
  return '<div class="box"><p class="hint">Scrolls sideways \u{2194}</p>' .. html .. "</div>\n"
end

local how <const> = "How to read this: "

-- Most characters of a line that says how to read a table; more would take a second line on the page.
local longest_line <const> = 120

-- Returns one table of a section as HTML, with its caption, and how to read it. Returns "" for a table without rows.
local function table_text(whole, caption, legend)
  if #whole.rows == 0 then return "" end
  local one = reading.without_empty(whole)
  local parts = { caption ~= "" and '<p class="caption">' .. escape(caption) .. "</p>\n" or "",
    box('<div class="wide" tabindex="0">' .. one:to_html() .. "</div>") }
  local opens = "meaning of the columns"
  local line, more = reading.line(one, longest_line - #how - #opens - 1)
  local meanings = legend ~= "" and reading.meanings(legend, whole.columns, one.columns) or {}
  table.move(meanings, 1, #meanings, #more + 1, more)
  if #more > 0 then
    if line ~= "" then opens = line .. opens:gsub("^m", " M") end
    parts[#parts + 1] = ('<details class="legend"><summary>%s</summary>%s</details>\n'):format(escape(how .. opens),
      "<ul><li>" .. escape(table.concat(more, "\n")):gsub("\n", "</li>\n<li>") .. "</li></ul>")
  elseif line ~= "" then
    parts[#parts + 1] = '<p class="legend">' .. escape(how .. line) .. "</p>\n"
  end
  return table.concat(parts)
end

-- Class of a verdict, which gives it a colour.
local function class_of(verdict)
  if verdict:find "^holds in %d" then return "partly" end
  return verdict:find "^holds" and "holds" or verdict == "does not hold" and "refuted" or "open"
end

local function verdict_text(each)
  return ('<span class="verdict %s">%s</span>'):format(class_of(each.verdict), escape(each.verdict))
end

-- Returns the list of claims that a section decides, and its main finding unless its text has it.
local function found_text(section)
  local parts = {}
  for _, each in ipairs(section.verdicts or {}) do
    parts[#parts + 1] = ("<li>%s: %s</li>\n"):format(escape(each.claim), verdict_text(each))
  end
  local list = #parts > 0 and '<ul class="verdicts">\n' .. table.concat(parts) .. "</ul>\n" or ""
  local finding = section.finding or ""
  return list .. (section.text:find(finding, 1, true) and "" or paragraphs(finding))
end

-- Returns the tables of a section as HTML.
local function tables_text(section)
  local parts = {}
  for i, one in ipairs(section.tables or {}) do
    local caption, legend = section.captions and section.captions[i], section.legends and section.legends[i]
    parts[i] = table_text(one, caption or "", legend or "")
  end
  return table.concat(parts)
end

-- Returns the figures of a section as HTML. `figures.count` is the number of figures in the report before this section,
-- and is increased by the section's figures.
local function figures_text(section, figures)
  local parts, files = {}, { section.figure }
  for _, file in ipairs(section.figures or {}) do files[#files + 1] = file end
  for i, file in ipairs(files) do
    figures.count = figures.count + 1
    parts[i] = box('<figure tabindex="0">' .. inline(file, figures.count) .. "</figure>")
  end
  return table.concat(parts)
end

-- Returns a command as HTML in which no line break is within the name of an option.
local function unbroken(command) return (escape(command):gsub("%-%-%S+", "<span>%0</span>")) end

-- Returns a section of the report as HTML. `level` is the level of its heading, `id` its HTML id, `figures` as in
-- figures_text.
local function section_text(each, level, id, figures)
  local made = each.command and '<p class="made">Made by <code>' .. unbroken(each.command) .. "</code></p>\n" or ""
  local heading = ('<section id="%s"><h%d>%s</h%d>\n'):format(id, level, escape(each.title), level)
  return table.concat{ heading, found_text(each), paragraphs(each.text), figures_text(each, figures), tables_text(each),
    made, "</section>\n" }
end

-- Returns the table of findings, one row for each claim, with the document's name above its claims. Returns "" if no
-- section decides a claim.
local function findings_table(documents, ids)
  local parts = {}
  for _, one in ipairs(documents) do
    local rows = {}
    for _, section in ipairs(one.sections) do
      for _, each in ipairs(section.verdicts or {}) do
        rows[#rows + 1] = ('<tr><td>%s</td><td>%s</td><td><a href="#%s">%s</a></td></tr>\n'):format(
          escape(each.claim), verdict_text(each), ids[section], escape(section.title))
      end
    end
    if #rows > 0 then
      parts[#parts + 1] = ('<tr><th colspan="3">%s</th></tr>\n'):format(escape(one.title)) .. table.concat(rows)
    end
  end
  if #parts == 0 then return "" end
  return '<table class="findings">\n<thead><tr><th>Claim</th><th>Verdict</th><th>Section</th></tr></thead>\n<tbody>'
    .. table.concat(parts) .. "</tbody>\n</table>\n"
end

-- Returns the side navigation: documents, and the sections of each.
local function contents(documents, ids, opening, has_glossary)
  local parts = { ('<li><a href="#findings">%s</a></li>\n'):format(escape(opening.title)) }
  for _, one in ipairs(documents) do
    local links = {}
    for i, section in ipairs(one.sections) do
      links[i] = ('<li><a href="#%s">%s</a></li>\n'):format(ids[section], escape(section.title))
    end
    parts[#parts + 1] = ('<li class="document"><a href="#%s">%s</a><ul>\n%s</ul></li>\n'):format(
      ids[one], escape(one.short), table.concat(links))
  end
  if has_glossary then parts[#parts + 1] = '<li class="document"><a href="#glossary">Glossary</a></li>\n' end
  return '<nav class="contents" aria-label="Contents"><div><strong>Contents</strong>\n<ul>\n' .. table.concat(parts)
    .. "</ul></div></nav>\n"
end

local banner = [[
<p class="banner" role="note"><strong>Made-up data.</strong> This report was made with --smoke, to see that every script
runs. Numbers that come of training are not results, and no printed number stands beside them.</p>
]]

local function ids_of(documents)
  local ids = {}
  for d, one in ipairs(documents) do
    ids[one] = ("d%d"):format(d)
    for s, section in ipairs(one.sections) do ids[section] = ("d%ds%d"):format(d, s) end
  end
  return ids
end

---Makes the folder of a report's file, so that an impossible path raises an error before hours of
---training.
---@param path string
function M.prepare(path) core.make_folder(path) end

---Writes the report as an HTML file: its title and `text`, a banner if the data are made up, findings,
---the documents (papers with their sections), and a glossary, with side navigation.
---@param path string  path of the HTML file
---@param o { title: string, text: string, made_up?: boolean, opening: report.Section, documents: report.Document[] }
---   opening: its text is above the table of findings, its tables and figure are below
function M.write(path, o)
  local ids, figures, parts = ids_of(o.documents), { count = 0 }, {}
  local opening = table.concat{ '<section id="findings"><h2>', escape(o.opening.title), "</h2>\n",
    paragraphs(o.opening.text), findings_table(o.documents, ids), tables_text(o.opening),
    figures_text(o.opening, figures), "</section>\n" }
  for _, one in ipairs(o.documents) do
    parts[#parts + 1] = ('<h2 id="%s">%s</h2>\n%s'):format(ids[one], escape(one.title), paragraphs(one.text or ""))
    for _, section in ipairs(one.sections) do parts[#parts + 1] = section_text(section, 3, ids[section], figures) end
  end
  local body = opening .. table.concat(parts)
  local terms = glossary.html(body)
  core.write_file(path, document(o.title, read(here .. "report.css"), table.concat{
    '<div class="page">\n<header><h1>', escape(o.title), "</h1>\n", o.made_up and banner or "", '<p class="made">',
    unbroken(o.text), "</p></header>\n", contents(o.documents, ids, o.opening, terms ~= ""), "<main>\n", body, terms,
    "</main></div>\n<script>\n", core.stdlib_text "stdlib/manual/contents.js", read(here .. "report.js"),
    "</script>\n" }))
end

return M
