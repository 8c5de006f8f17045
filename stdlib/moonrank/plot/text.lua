-- Words and numbers in a gnuplot script.
local check = require "moonrank.check"

local M = {}

---Returns a text with uniform line breaks. Control characters and invalid UTF-8 are errors.
---Example: `#require("moonrank.plot.text").plain("two\r\nlines")   --> 9`
function M.plain(text)
  text = tostring(text)
  if not utf8.len(text) then check.fail("mr.plot: the text '%s' is not UTF-8", (text:gsub("[^%g ]", "?"))) end
  text = text:gsub("\r?\n", "\n"):gsub("\t", " ")
  if text:find("[\0-\9\11-\31\127]") or text:find("\xC2[\x80-\x9F]") then
    check.fail("mr.plot: the text '%s' has a control character in it", (text:gsub("\xC2[\x80-\x9F]", "?"):gsub("%c", "?")))
  end
  if text:find("\xEF\xBF[\xBE\xBF]") then
    check.fail("mr.plot: the text '%s' has U+FFFE or U+FFFF, which SVG cannot hold", text)
  end
  return text
end

-- Characters that need double quotes: a line break, which single quotes cannot contain, and a
-- single quote, which gnuplot does not recognise doubled at the beginning of a string.
local double = { ["\n"] = "'.\"\\n\".'", ["'"] = "'.\"'\".'" }

---Returns a gnuplot string of exactly these characters. It uses single quotes, because gnuplot runs
---commands in backticks within double quotes.
---Example: `require("moonrank.plot.text").quote("it's `ls`")   --> 'it'."'".'s `ls`'`
function M.quote(text) return "'" .. M.plain(text):gsub("[\n']", double) .. "'" end

---Like `quote`, but on one line: for the label of an axis, or the name of a series.
function M.quote_line(text) return M.quote((tostring(text):gsub("\r?\n", " "))) end

---Returns a number for gnuplot with full precision.
function M.number(x)
  if x ~= x then return "NaN" end
  return (math.type(x) == "integer" and "%d" or "%.10g"):format(x)
end

-- Letters by width in DejaVu Sans, the widest of the usual fonts. Arial and Helvetica fit into the same space.
local narrow, wide = "[ijlI.,:;|'!()%[%] ftr%-]", "[mwMW@%%]"

---Estimates how many pixels wide a line of text is.
---@param size number  of the font, in pixels
function M.width(text, size)
  local ems = 0
  for _, code in utf8.codes(text) do
    local letter = code < 128 and string.char(code) or "n"
    ems = ems + (letter:find(narrow) and 0.38 or letter:find(wide) and 0.92 or letter:find("%u") and 0.7 or 0.62)
  end
  return ems * size
end

---Breaks a text between words into lines not wider than this many pixels. Line breaks stay.
---Example: `#require("moonrank.plot.text").wrap("one two three", 10, 50)   --> 2`
function M.wrap(text, size, pixels)
  local lines = {}
  if not text then return lines end
  for paragraph in (text .. "\n"):gmatch("(.-)\r?\n") do
    local line
    if M.width(paragraph, size) <= pixels then line, paragraph = paragraph, "" end
    for word in paragraph:gmatch("%S+") do
      local longer = line and line .. " " .. word or word
      if line and M.width(longer, size) > pixels then
        lines[#lines + 1], line = line, word
      else
        line = longer
      end
    end
    lines[#lines + 1] = line or ""
  end
  return lines
end

return M
