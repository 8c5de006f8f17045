-- Converts the Markdown of the manual to HTML: headings, paragraphs, lists, tables, fenced code, `code`, **strong**,
-- $formulas$ and [links](to). Names of the library in the text become links to their description.
local escape = require("moonrank.table").escape_html
local code = require "moonrank.manual.code"
local figures = require "moonrank.manual.figures"
local formula = require "moonrank.manual.formula"

local M = {}

---@class mr.manual.Heading
---@field level integer  2 for a section of the page
---@field text string
---@field id string

-- Replaces names of the library, or their longest known beginnings, in HTML-escaped text by links.
local function with_names(text, links)
  return (text:gsub("%f[%w_]mr%.[%w_.:]*[%w_]", function(name)
    local known = name
    while known and not links[known] do known = known:match "^(.*)[.:][%w_]+$" end
    if not known then return nil end
    return ('<a href="%s">%s</a>%s'):format(escape(links[known]), known, name:sub(#known + 1))
  end))
end

local function styled(text, links)
  text = escape(text):gsub("%*%*(%S[^*]-)%*%*", "<strong>%1</strong>")
  return with_names(text, links)
end

-- Converts text to HTML: matches of `pattern` by `found`, and the text between them by `rest`.
local function split(text, pattern, found, rest)
  local parts, from = {}, 1
  while true do
    local first, last, one, two = text:find(pattern, from)
    parts[#parts + 1] = rest(text:sub(from, first and first - 1))
    if not first then return table.concat(parts) end
    parts[#parts + 1] = found(one, two)
    from = last + 1
  end
end

---Converts the Markdown text of a paragraph or table cell to HTML: `code`, **strong**, $formulas$ and links.
---Example: `require "moonrank.manual.markup".inline "a `b` < c"   --> a <code>b</code> &lt; c`
function M.inline(text, links)
  links = links or {}
  local function words(part) return styled(part, links) end
  local function link(label, target) return ('<a href="%s">%s</a>'):format(escape(target), styled(label, {})) end
  local function with_links(part) return split(part, "%[([^%]\n]+)%]%(([^)%s]+)%)", link, words) end
  local function with_formulas(part)
    return split(part, formula.pattern, function(inside) return formula.html(inside) end, with_links)
  end
  local function mono(inside)
    return "<code>" .. with_names(escape((inside:gsub("\n", " "))), links) .. "</code>"
  end
  return split(text, "`([^`]+)`", mono, with_formulas)
end

---Returns the text of a heading in the form of the HTML attribute `id`, which follows # in an address.
---Example: `require "moonrank.manual.markup".id "First steps: a list"   --> first-steps-a-list`
function M.id(text) return (text:lower():gsub("'", ""):gsub("[^%w]+", "-"):gsub("^%-", ""):gsub("%-$", "")) end

---Returns a block of code as HTML. Code with the language "lua" is highlighted; the language
---"output" marks the printed output of the code above the block.
function M.block(text, language, links)
  local class = language == "output" and ' class="output"' or ""
  return ("<pre%s><code>%s</code></pre>\n"):format(class, language == "lua" and code.html(text, links) or escape(text))
end

-- Returns the cells of a table's line. A formula may contain the mark | for an absolute value.
local function cells(line)
  local found = {}
  line = line:gsub(formula.pattern, function(inside) return "$" .. inside:gsub("|", "\0") .. "$" end)
  for cell in line:gsub("^%s*|", ""):gsub("|%s*$", ""):gmatch "[^|]+" do
    found[#found + 1] = cell:match "^%s*(.-)%s*$":gsub("%z", "|")
  end
  return found
end

-- Adds to long code in a table cell the places where a narrow screen may break it: paths, names and calls.
local function breakable(cell)
  return (cell:gsub("(<code>)(.-)(</code>)", function(first, inside, last)
    if #inside:gsub("<[^>]*>", "") < 18 then return nil end
    local text = (">" .. inside .. "<"):gsub(">[^<]+<", function(part)
      return part:gsub("[/_(,]%f[%a]", "%0<wbr>"):gsub("%w%f[.]%.%f[%a]", "%0<wbr>")
    end)
    return first .. text:sub(2, -2) .. last
  end))
end

local function table_html(lines, links)
  local parts = { '<div class="wide"><table>\n' }
  for i, line in ipairs(lines) do
    local tag, row = i == 1 and "th" or "td", {}
    if i ~= 2 then  -- line 2 of a Markdown table has only dashes
      for c, cell in ipairs(cells(line)) do
        row[c] = ("<%s>%s</%s>"):format(tag, breakable(M.inline(cell, links)), tag)
      end
      parts[#parts + 1] = ("%s<tr>%s</tr>%s\n"):format(i == 1 and "<thead>" or "", table.concat(row),
        i == 1 and "</thead>\n<tbody>" or "")
    end
  end
  return table.concat(parts) .. "</tbody></table></div>\n"
end

local function list_html(lines, links)
  local items = {}
  for _, line in ipairs(lines) do
    local item = line:match "^%- (.*)" or line:match "^%d+%. (.*)"
    if item then items[#items + 1] = item else items[#items] = items[#items] .. "\n" .. line:match "^%s*(.*)" end
  end
  for i, item in ipairs(items) do items[i] = "<li>" .. M.inline(item, links) .. "</li>\n" end
  local tag = lines[1]:match "^%d" and "ol" or "ul"
  return ("<%s>\n%s</%s>\n"):format(tag, table.concat(items), tag)
end

-- Returns the kind of block of a line that is neither a heading nor a code fence: "table", "list" or "text".
local function kind_of(line)
  if line:match "^|" then return "table" end
  if line:match "^%- " or line:match "^%d+%. " then return "list" end
  return "text"
end

-- Returns a paragraph as HTML. A formula that is a paragraph of its own is centred.
local function paragraph(text, links)
  local alone = text:match("^%s*" .. formula.pattern .. "$")
  if alone then return ('<p class="formula">%s</p>\n'):format(formula.html(alone, true)) end
  return "<p>" .. M.inline(text, links) .. "</p>\n"
end

local function finished(kind, lines, links)
  if kind == "table" then return table_html(lines, links) end
  if kind == "list" then return list_html(lines, links) end
  return paragraph(table.concat(lines, "\n"), links)
end

-- Returns a fenced block as HTML. `info` is the text after the opening fence: a language, or "figure" and a caption.
local function fenced(lines, info, links)
  local text, caption = table.concat(lines, "\n"), info:match "^figure%s+(.*)"
  if not caption then return M.block(text, info, links) end
  return figures.html(text, M.inline(caption, links), caption)
    .. ("<details><summary>Code of the figure</summary>%s</details>\n"):format(M.block(text, "lua", links))
end

---Converts Markdown to HTML. Returns the HTML, the headings, and the title, if there is one. A block of code that
---begins with "```figure Caption" returns a figure, and becomes the figure.
---@return string html
---@return mr.manual.Heading[] headings  without the title
function M.html(text, links)
  local parts, headings, title, kind, lines, fence = {}, {}, nil, nil, {}, nil
  local function flush()
    if kind then parts[#parts + 1] = finished(kind, lines, links) end
    kind, lines = nil, {}
  end
  for line in (text:gsub("\n*$", "\n")):gmatch "(.-)\n" do
    local marks, heading = line:match "^(#+) (.*)"
    if fence then
      if line:match "^```" then
        parts[#parts + 1], fence, lines = fenced(lines, fence, links), nil, {}
      else
        lines[#lines + 1] = line
      end
    elseif line:match "^```" then
      flush()
      fence = line:match "^```(.*)"
    elseif heading and #marks == 1 then
      title = heading
    elseif heading then
      flush()
      local id = M.id(heading)
      headings[#headings + 1] = { level = #marks, text = heading, id = id }
      parts[#parts + 1] = ('<h%d id="%s">%s</h%d>\n'):format(#marks, id, M.inline(heading, links), #marks)
    elseif line == "" then
      flush()
    else
      local this = kind_of(line)
      if kind and (kind == "text" or kind == "list" and this == "text") then this = kind end
      if kind ~= this then flush() end
      kind, lines[#lines + 1] = this, line
    end
  end
  flush()
  return table.concat(parts), headings, title
end

---Converts the paragraphs of a source comment to HTML. A paragraph whose lines are all indented
---becomes preformatted text.
---Example: `require "moonrank.manual.markup".paragraphs "One.":match "^[^\n]*"   --> <p>One.</p>`
function M.paragraphs(text, links)
  local parts = {}
  for part in (text .. "\n\n"):gmatch "%s-\n*(.-)\n\n+" do
    if part:match("^%s*" .. formula.pattern .. "$") then
      parts[#parts + 1] = paragraph(part)
    elseif part:match "^  " and not ("\n" .. part):find "\n[^ ]" then
      parts[#parts + 1] = M.block(part, "")
    elseif part:find "%S" then
      parts[#parts + 1] = M.html(part, links)
    end
  end
  return table.concat(parts)
end

return M
