-- The glossary of a report: terms of the manual's glossary that the report uses.
local escape = require("moonrank.table").escape_html
local plain_formulas = require("moonrank.manual.formula").plain
local texts = require "moonrank.manual.texts"

local M = {}

-- Terms of the manual's glossary that a reader of results needs. Other terms are about programs.
local terms = { "List", "Grade", "Relevant", "Shape of a list", "Metric", "DCG and nDCG", "Precision", "AP", "RR",
  "RBP and nRBP", "AUC", "Random ranking", "Pointwise, pairwise, listwise", "Smooth rank", "Steepness", "Bound",
  "Slope", "NSR", "Part", "Fold", "Epoch", "Learning rate", "Seed", "Numerics version", "p-value", "Permutation test",
  "Holm's correction", "Confidence interval", "Effect size" }

-- Returns true if the text has the term, or a part of a term such as "DCG and nDCG", as a word.
local function has(text, term)
  for word in term:gsub(" and ", ", "):gsub("'s correction", ""):gmatch "[^,%s][^,]*" do
    for _, each in ipairs{ word, (word:gsub("^%u", string.lower)) } do
      if text:find("%f[%w]" .. each:gsub("%p", "%%%0")) then return true end
    end
  end
  return false
end

---Returns the glossary as HTML: terms of the manual's glossary that the text uses. Returns "" if there
---are none.
---@param text string  the report's HTML
---@return string
function M.html(text)
  local parts, of = {}, {}
  for _, entry in ipairs(texts.terms()) do of[entry.heading] = plain_formulas(entry.text) end
  local plain = text:gsub("<svg.-</svg>", " "):gsub("<[^>]*>", " ")
  for _, term in ipairs(terms) do
    if of[term] and has(plain, term) then
      parts[#parts + 1] = ("<dt>%s</dt><dd>%s</dd>\n"):format(escape(term),
        (escape(of[term]):gsub("`([^`]+)`", "<code>%1</code>")))
    end
  end
  if #parts == 0 then return "" end
  return '<section id="glossary"><h2>Glossary</h2>\n<dl class="glossary">\n' .. table.concat(parts)
    .. "</dl></section>\n"
end

return M
