-- Makes the first page of a report of several documents (papers). It has the main finding of every section
-- (`finding`), a table of how closely each document's printed numbers were reproduced (`agreement`), and the figure
-- of the grid of losses and bounds.
local mr = require "moonrank"

local made_up_text = [[
All data of this report are made up, to see that every script runs (--smoke). None of the numbers that come of training is a result, no
printed number stands beside them, and nothing came out.]]

local text = [[
The table says of each document how many sections the report has of it, how many of these were made (the others say why not), how many of
their numbers stand beside a number that the document prints, and how many of these lie within the tolerance of the comparison; where a
document's data are not to be had, nothing is compared. In the tables of the report the best and the significant values are in bold face.]]  -- luacheck: ignore 631

-- Adds up how well a document's (paper's) printed numbers were reproduced, over its sections: how many numbers are
-- compared (`of`), and how many are within tolerance (`within`). `tolerance` lists the tolerances in words, each
-- once.
local function agreement_of(document)
  local sum, said, known = { of = 0, within = 0 }, {}, {}
  for _, section in ipairs(document.sections) do
    local own = section.agreement
    if own then
      sum.of, sum.within = sum.of + own.of, sum.within + own.within
      if not known[own.tolerance] then said[#said + 1], known[own.tolerance] = own.tolerance, true end
    end
  end
  sum.tolerance = table.concat(said, "; ")
  return sum
end

local function made_of(document)
  local made = 0
  for _, section in ipairs(document.sections) do made = made + ((section.failed or section.lacking) and 0 or 1) end
  return made
end

local function table_of(documents, made_up)
  local rows, columns = {}, { "document", "sections", "made" }
  if not made_up then table.move({ "beside printed numbers", "within tolerance", "tolerance" }, 1, 3, 4, columns) end
  for i, document in ipairs(documents) do
    rows[i] = { document.short, #document.sections, made_of(document) }
    local found = agreement_of(document)
    if not made_up and found.of > 0 then table.move({ found.of, found.within, found.tolerance }, 1, 3, 4, rows[i]) end
  end
  return mr.table{ columns = columns, rows = rows }
end

-- Returns one paragraph per document (paper) with the findings of all its sections.
local function findings(documents)
  local paragraphs = {}
  for _, document in ipairs(documents) do
    local own = {}
    for _, section in ipairs(document.sections) do own[#own + 1] = section.finding end
    paragraphs[#paragraphs + 1] = #own > 0 and ("%s: %s"):format(document.short, table.concat(own, " ")) or nil
  end
  return paragraphs
end

-- Returns the path of the first figure of the document "grid" (all losses under all bounds), or nil if the report
-- does not have this document.
local function picture_of(documents)
  for _, document in ipairs(documents) do
    if document.name == "grid" then return document.sections[1].figure end
  end
  return nil
end

---Returns the report's first section: the findings of all documents (papers), and a table of how
---closely their printed numbers were reproduced. With `made_up`, the data are made up, and a note
---replaces the findings.
---@param documents (report.Document|{ name: string, short: string })[]
---@param made_up boolean
---@return report.Section
return function(documents, made_up)
  local paragraphs = made_up and { made_up_text } or findings(documents)
  if not made_up then paragraphs[#paragraphs + 1] = text end
  return {
    title = made_up and "What came out, made-up data" or "What came out",
    text = table.concat(paragraphs, "\n\n"),
    tables = { table_of(documents, made_up) },
    figure = picture_of(documents),
  }
end
