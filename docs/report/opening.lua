-- Makes the opening section of a report of several documents (papers): a table of how many sections were made and how
-- closely printed numbers were reproduced (`agreement`), and the figure of the grid of losses and bounds. report.lua
-- puts the table of findings above it.
local mr = require "moonrank"

local legend = "sections: of the report; made: sections that have results (the others say why not)"
local of_printed = [[
; beside printed numbers: our numbers beside which the document prints one; within tolerance: how many of these differ
by at most the tolerance.]]

-- The opening paragraph, for a reader who sees a report for the first time.
local introduction = [[
This report repeats experiments of publications on learning to rank. It has a section for each table and figure, with
the command that makes it. Many sections ask what a bound does. A bound is a function that rescales the loss of each
list by the range or the distribution of its metric over all rankings of the list. The glossary at the end explains this
and other terms.]]
local of_verdicts = [[
The first table lists claims of the publications and expectations of this project, and whether our runs confirm them. A
difference counts as significant if p < 0.05, after Holm's correction where the section applies it. A claim is "not
shown" if no significant difference was found, and "not made" if runs are missing.]]

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

-- Returns the path of the first figure of the document "grid" (all losses under all bounds), or nil if the report
-- does not have this document.
local function picture_of(documents)
  for _, document in ipairs(documents) do
    if document.name == "grid" then return document.sections[1].figure end
  end
  return nil
end

---Returns the report's first section: an introduction, and a table of how many sections of each document (paper)
---were made, and how closely printed numbers were reproduced. With `made_up`, the data are made up, and no printed
---number stands beside them.
---@param documents (report.Document|{ name: string })[]
---@param made_up boolean
---@return report.Section
return function(documents, made_up)
  return {
    title = made_up and "Overview" or "Findings",
    text = made_up and introduction or introduction .. "\n\n" .. of_verdicts,
    captions = { made_up and "Documents" or "Documents, and how closely their printed numbers are met" },
    tables = { table_of(documents, made_up) },
    legends = { made_up and legend .. "." or legend .. of_printed },
    figure = picture_of(documents),
  }
end
