-- Converts Lua code to HTML with syntax highlighting. Names of the library in the code become links.
local escape = require("moonrank.table").escape_html
local lexer = require "moonrank.prompt.lexer"

local M = {}

local keywords = {}
for _, word in ipairs(lexer.keywords) do keywords[word] = true end

local function span(class, text) return ('<span class="%s">%s</span>'):format(class, escape(text)) end

-- Returns the text between two Lua tokens as HTML. The text consists of blanks and comments.
local function gap(text)
  return (escape(text):gsub("%-%-[^\n]*", function(comment) return '<span class="c">' .. comment .. "</span>" end))
end

-- Returns a name such as mr.data.movielens that begins at token `at`, and the index of its last token; or nil.
local function path_at(tokens, at)
  if tokens[at].text ~= "mr" then return nil end
  local path, last = "mr", at
  while tokens[last + 2] and tokens[last + 1].text == "." and tokens[last + 2].kind == "name" do
    path, last = path .. "." .. tokens[last + 2].text, last + 2
  end
  if last > at then return path, last end
end

local function word(token)
  if token.kind == "open" then return (escape(token.text):gsub("\n$", "")) end
  if token.kind == "string" then return span("s", token.text) end
  if token.kind == "number" then return span("n", token.text) end
  if token.kind == "name" and keywords[token.text] then return span("k", token.text) end
  return escape(token.text)
end

---Returns Lua code as HTML for a <pre> element, with syntax highlighting and with links on names of the library.
---Example: `require "moonrank.manual.code".html("local x")   --> <span class="k">local</span> x`
function M.html(text, links)
  -- the added "\n" closes a comment in the last line
  local parts, from, i, tokens = {}, 1, 1, lexer.tokens(text .. "\n")
  while i <= #tokens do
    local token = tokens[i]
    parts[#parts + 1] = gap(text:sub(from, token.start - 1))
    local path, last = path_at(tokens, i)
    local link = path and links and links[path]
    if link then
      parts[#parts + 1] = ('<a href="%s">%s</a>'):format(escape(link), escape(text:sub(token.start, tokens[last].stop)))
      token, i = tokens[last], last
    else
      parts[#parts + 1] = word(token)
    end
    from, i = token.stop + 1, i + 1
  end
  parts[#parts + 1] = gap(text:sub(from))
  return table.concat(parts)
end

return M
