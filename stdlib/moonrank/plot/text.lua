-- Formats texts and numbers for a gnuplot script.
local check = require "moonrank.check"
local digits = require "moonrank.system.digits"

local M = {}

---Returns a text in which every line break is "\n" and tabs are spaces. Other control characters,
---invalid UTF-8, and the characters U+FFFE and U+FFFF are errors.
---Example: `#require("moonrank.plot.text").plain("two\r\nlines")   --> 9`
function M.plain(text)
  text = tostring(text)
  check.utf8("mr.plot", "the text", text)
  text = text:gsub("\r?\n", "\n"):gsub("\t", " ")
  check.expect(not text:find("[\0-\9\11-\31\127]") and not text:find("\xC2[\x80-\x9F]"), "mr.plot", "the text", text,
    "a text without any control character")
  check.expect(not text:find("\xEF\xBF[\xBE\xBF]"), "mr.plot", "the text", text,
    "a text without U+FFFE and U+FFFF, which SVG cannot hold")
  return text
end

-- Characters that a single-quoted gnuplot string cannot contain, and what replaces them: an escape in double quotes.
-- These are the line break and the single quote. Within double quotes the quote is an escape as well: gnuplot would
-- otherwise take it for the end of a single-quoted string, and expand macros such as @name that follow it.
-- The character @ is escaped too, so that no text has a macro.
local double = { ["\n"] = [['."\n".']], ["'"] = [['."\047".']], ["@"] = [['."\100".']] }

---Returns an expression of gnuplot whose value is the text, with the line breaks and tabs of `plain`.
---Single quotes are used where possible, because gnuplot runs commands in backticks within double
---quotes.
---Example: `require("moonrank.plot.text").quote("it's `ls`")   --> 'it'."\047".'s `ls`'`
function M.quote(text) return "'" .. M.plain(text):gsub("[\n'@]", double) .. "'" end

---Returns a text as a gnuplot string with spaces instead of line breaks: for the label of an axis,
---or the name of a series.
function M.quote_line(text) return M.quote((tostring(text):gsub("\r?\n", " "))) end

---Returns a number as text for gnuplot, with as many digits as are needed to read the same number back.
function M.number(x)
  if x ~= x then return "NaN" end
  return math.type(x) == "integer" and ("%d"):format(x) or digits.shortest(x)
end

---Returns a function that writes numbers as the option `labels` of a figure says: a format such as
---"%.2f", or anything else for three digits.
---@param labels string|boolean|nil
---@return fun(value: number): string
---Example: `require("moonrank.plot.text").number_format("mr.plot.bars", "%.1f s")(0.25)   --> 0.2 s`
function M.number_format(where, labels)
  local format = type(labels) == "string" and labels or "%.3g"
  check.expect(pcall(string.format, format, 0.5), where, "labels", format,
    "true, false or a format of one number, such as \"%.2f\"")
  -- a negative number that is rounded to 0 is written without its minus sign
  return function(value) return (format:format(value):gsub("^%-([0.]+)$", "%1")) end
end

-- Lua patterns of narrow and of wide letters, from which the width of a text in DejaVu Sans is estimated. Of the usual
-- fonts, DejaVu Sans is the widest, so text in Arial or Helvetica fits as well.
local narrow, wide = "[ijlI.,:;|'!()%[%] ftr%-]", "[mwMW@%%]"

---Returns an estimate of the width of a line of text in pixels.
---@param text string  UTF-8
---@param size number  of the font, in pixels
function M.width(text, size)
  local ems = 0
  for _, code in utf8.codes(text) do
    local letter = code < 128 and string.char(code) or "n"
    ems = ems + (letter:find(narrow) and 0.38 or letter:find(wide) and 0.92 or letter:find("%u") and 0.7 or 0.62)
  end
  return ems * size
end

---Returns the lines of a text, broken between words so that each is at most `pixels` wide, unless a word is longer.
---Line breaks in the text are kept. Without a text, the list is empty.
---@param size number    of the font, in pixels
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
