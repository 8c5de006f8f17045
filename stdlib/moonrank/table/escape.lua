-- Escapes texts for the formats of table exports: CSV, Markdown, LaTeX and HTML.
local M = {}

-- Pattern of texts that a spreadsheet would run as a formula, and pattern of texts that are numbers.
local formula, number = "^'*[=+%-@\t\r]", "^[+-]?%d*%.?%d*[eE]?[+-]?%d*$"

---Returns a text with a quotation mark (') in front if a spreadsheet would run it as a formula: if it begins with
---= + - @, a tab or a carriage return, or with quotation marks (') before one of these. Texts that are numbers stay
---unchanged. Commas are not quoted here.
---Example: `require("moonrank.table.escape").csv("=1+2")   --> '=1+2`
---Example: `require("moonrank.table.escape").csv("-1.5")   --> -1.5`
function M.csv(text)
  if text:find(formula) and not (text:find(number) and tonumber(text)) then return "'" .. text end
  return text
end

---Returns the original text of a CSV cell that `csv` wrote, without the quotation mark (') that `csv` may have added.
---@param field string
---Example: `require("moonrank.table.escape").of_csv("'=1+2")   --> =1+2`
function M.of_csv(field)
  return field:sub(1, 1) == "'" and field:find(formula) and field:sub(2) or field
end

local html_escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function with_backslashes(text) return (text:gsub(".", "\\%0")) end

---Returns a text escaped so that Markdown shows it verbatim, without HTML, links, code, emphasis or ends of cells. Web
---addresses are escaped as well, because Markdown makes links of them.
---Example: `require("moonrank.table.escape").markdown "a|b"   --> a\|b`
function M.markdown(text)
  text = text:gsub("[\\`*|~]", "\\%0"):gsub("[&<>]", html_escapes):gsub("%]%f[%(%[:]", "\\]")
  text = text:gsub("%f[%w_]_+", with_backslashes)
  text = text:gsub("([^\\_])(_+)%f[^%w_]", function(before, marks) return before .. with_backslashes(marks) end)
  return (text:gsub("://", "&#58;//"):gsub("([wW][wW][wW])%.", "%1&#46;"):gsub("(%S)@([%w_-]+%.)", "%1&#64;%2"))
end

---Returns a text escaped for HTML, so that it can stand between tags or in an attribute in double quotes.
---Example: `require("moonrank.table.escape").html("p < 0.05 & n > 3")   --> p &lt; 0.05 &amp; n &gt; 3`
function M.html(text) return (tostring(text):gsub('[&<>"]', html_escapes)) end

local latex_escapes = { ["\\"] = "\\textbackslash{}", ["~"] = "\\textasciitilde{}", ["^"] = "\\textasciicircum{}",
  ["<"] = "\\textless{}", [">"] = "\\textgreater{}" }

---Returns a text escaped for a cell of a LaTeX table. A * or [ at its beginning is put into braces, because LaTeX would
---take it for an argument of the \\ that ends the previous row.
---Example: `require("moonrank.table.escape").latex "100 %"   --> 100 \%`
function M.latex(text)
  text = text:gsub("[\\~^&%%$#_{}<>]", function(c) return latex_escapes[c] or "\\" .. c end)
  return (text:gsub("^[*%[]", "{%0}"))
end

return M
