-- Breaks the lines of help texts at the width of the terminal. Paragraphs and list items are filled again, rows of
-- columns continue below their last column, and code and Markdown tables stay as they are.
local M = {}

-- least width of the last column, in characters; if less is left, its text begins on the next line
local least_text <const> = 30

local function width_of(text) return utf8.len(text) or #text end

-- Appends words in lines of at most `width` columns. Lines after the first begin with `hang` blanks.
local function fill(out, words, first, hang, width)
  local line, empty = first, true
  for word in words:gmatch "%S+" do
    if not empty and width_of(line) + 1 + width_of(word) > width then
      out[#out + 1], line, empty = line, (" "):rep(hang), true
    end
    line, empty = line .. (empty and "" or " ") .. word, false
  end
  out[#out + 1] = line
end

-- Splits a line of columns, which two or more blanks separate, before its last column; nil for other lines.
local function columns_of(line) return line:match "^(%s*%S.*%S?%s%s+)(%S.*)$" end

-- Appends a line of aligned columns, whose last column continues on further lines if it is too long.
local function fill_row(out, before, last, width)
  local hang, indent = width_of(before), before:match "^%s*"
  if width - hang >= least_text then return fill(out, last, before, hang, width) end
  local head, below = before:match "^(.-)%s*$", #indent + 4
  if width_of(head) <= width then out[#out + 1] = head else fill(out, head, indent, below, width) end
  fill(out, last, (" "):rep(below), below, width)
end

-- Splits the first line of a paragraph or list item into its indentation with the list mark ("  - ") and its words.
local function item_of(line)
  local mark = line:match "^%s*[-*] " or line:match "^%s*%d+%. " or line:match "^%s*"
  return mark, line:sub(#mark + 1)
end

-- Appends a paragraph or list item, whose original lines are `lines`. It is filled again only if one of them is too
-- long. The first line may begin with a list mark.
local function fill_paragraph(out, lines, width)
  local fits = true
  for _, line in ipairs(lines) do fits = fits and width_of(line) <= width end
  if fits then return table.move(lines, 1, #lines, #out + 1, out) end
  local mark, first = item_of(lines[1])
  fill(out, first .. " " .. table.concat(lines, " ", 2), mark, #mark, width)
end

-- Returns a function that returns true for each line of code: below "Example", or between backticks.
local function code_reader()
  local fenced, example = false, false
  return function(line)
    if line:find "^%s*```" then
      fenced = not fenced
      return true
    end
    example = line == "Example" or example and line:find "^  " ~= nil
    return fenced or example
  end
end

---Returns a help text in lines of at most `width` columns. Only lines that are longer change, with
---the rest of their paragraph. Code, tables in Markdown and long words may still be wider.
---@param width? integer  nil: the text is returned unchanged
---Example: `require("moonrank.help.wrap").text("one two three", 8):match "[^\n]*"   --> one two`
function M.text(text, width)
  if not width then return text end
  local out, paragraph, is_code = {}, {}, code_reader()
  local function finish()
    if #paragraph > 0 then fill_paragraph(out, paragraph, width) end
    paragraph = {}
  end
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    local before, last = columns_of(line)
    local mark, words = item_of(line)
    local whole = is_code(line) or words == "" or line:find "^[|#]"
    local continues = #paragraph > 0 and not mark:find "%S" and #mark == #item_of(paragraph[1])
    if whole or before or not continues then finish() end
    if whole then out[#out + 1] = line
    elseif before and width_of(line) > width then fill_row(out, before, last, width)
    elseif before then out[#out + 1] = line
    else paragraph[#paragraph + 1] = line end
  end
  finish()
  return table.concat(out, "\n")
end

return M
