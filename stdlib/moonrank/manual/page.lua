-- Builds the HTML pages of the manual. Each page can be read without other files. It has a table of contents, links to
-- the pages of its part, and a search field for all pages. Its script is the file search.js.
local check = require "moonrank.check"
local core = require "moonrank.core"
local search = require "moonrank.help.search"
local escape = require("moonrank.table").escape_html

local M = {}

-- HTML tag that the head of every page of the manual contains. `moonrank doc --html` overwrites only pages with this
-- tag, and only a search.js with the first line `script_mark`.
M.mark = '<meta name="generator" content="moonrank doc --html">'
M.script_mark = "// Written by moonrank doc --html"

---Returns a complete HTML document with its style sheet inside.
---@param body string   HTML
---@param head? string  further HTML of the head
function M.document(title, css, body, head)
  return table.concat{ '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n', head and head .. "\n" or "",
    "<title>", escape(title), "</title>\n<style>\n", css, "</style>\n</head>\n<body>\n", body, "</body>\n</html>\n" }
end

-- Returns a name or a title as HTML that a browser may break after dots and underscores, and before capitals of
-- mixed names such as GroupedSplitOptions.
local function breakable(name)
  return (escape(name):gsub("[._:]%f[%a]", "%0<wbr>"):gsub("%l%l%f[%u]", "%0<wbr>"))
end

local function contents(headings)
  local parts = { '<nav class="contents" aria-label="Contents"><div><strong>Contents</strong>\n<ul>\n' }
  for _, h in ipairs(headings) do
    parts[#parts + 1] = ('<li%s><a href="#%s">%s</a></li>\n'):format(h.level > 2 and ' class="deep"' or "",
      escape(h.id), breakable(h.text))
  end
  return table.concat(parts) .. "</ul></div></nav>\n"
end

-- Returns a string or an array of strings as JSON that is safe within a <script> element.
local function json(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\<]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  end
  local parts = {}
  for i, each in ipairs(value) do parts[i] = json(each) end
  return "[" .. table.concat(parts, ",") .. "]"
end

---Returns the text of search.js, the script of all pages of the manual. It searches them, and marks the
---section in view. Synonyms and word stems are those of `moonrank doc`.
---@param groups { [1]: string, [2]: string[][] }[]  for each page: its file, and for each name its anchor, the name,
---   a sentence about it, the names that other libraries give to it, and the words of its text
function M.search(groups)
  local synonyms = {}
  for i, word in ipairs(check.names(search.synonyms)) do synonyms[i] = { word, search.synonyms[word] } end
  return ("%s\n%svar groups = %s,\n  synonyms = %s,\n  endings = %s;\n%s"):format(M.script_mark,
    core.stdlib_text "stdlib/manual/contents.js", json(groups), json(synonyms), json(search.endings),
    core.stdlib_text "stdlib/manual/search.js")
end

-- Returns links to all parts of the manual. The part that contains the page also has links to its pages.
local function site(page, parts)
  local lines = { '<nav class="site" aria-label="Pages"><div><ul>\n' }
  local function link(file, title, more)
    local is_here = file == page.file and ' aria-current="page"' or ""
    lines[#lines + 1] = ('<li><a href="%s"%s>%s</a>%s'):format(escape(file), is_here, breakable(title), more)
  end
  for _, part in ipairs(parts) do
    local has_page = part.file == page.file
    for _, each in ipairs(part.pages) do has_page = has_page or each == page end
    link(part.file, part.title, has_page and #part.pages > 0 and "<ul>\n" or "</li>\n")
    if has_page and #part.pages > 0 then
      for _, each in ipairs(part.pages) do link(each.file, each.title, "</li>\n") end
      lines[#lines + 1] = "</ul></li>\n"
    end
  end
  return table.concat(lines) .. "</ul></div></nav>\n"
end

---@class mr.manual.Page
---@field file string
---@field title string
---@field body string                    HTML
---@field headings mr.manual.Heading[]
---@field id? string                     anchor of the title: the name that the page describes
---@field next? { file: string, title: string }

---Returns a page of the manual as an HTML document, with header, table of contents and search field.
---@param o { parts: string[][], site: table[], version: string }  parts: {file, title} of each link in the header;
---   site: file, title and pages of each part in the navigation at the side; version: text of the footer
function M.html(page, o)
  local links = {}
  for i, part in ipairs(o.parts) do links[i] = ('<a href="%s">%s</a>\n'):format(escape(part[1]), escape(part[2])) end
  local id = page.id and (' id="%s"'):format(escape(page.id)) or ""
  local following = page.next
    and ('<p class="next">Next: <a href="%s">%s</a></p>\n'):format(escape(page.next.file), escape(page.next.title))
    or ""
  local body = { '<header><strong><a href="index.html">Moonrank</a></strong>\n<nav aria-label="Parts">',
    table.concat(links), "</nav>\n",
    '<form id="search" hidden><input id="q" type="search" aria-label="Search" placeholder="Search ( / )" ',
    'autocomplete="off"><ul id="hits"></ul></form></header>\n<div class="page">\n',
    #page.headings > 0 and contents(page.headings) or "",
    "<main>\n<h1", id, ">", breakable(page.title), "</h1>\n", page.body, following, "</main>\n",
    site(page, o.site), "</div>\n<footer>", escape(o.version), '</footer>\n<script src="search.js"></script>\n' }
  local title = page.title == "Moonrank" and page.title or page.title .. " - Moonrank"
  return M.document(title, core.stdlib_text "stdlib/manual/style.css", table.concat(body), M.mark)
end

return M
