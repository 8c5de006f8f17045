-- Reads the texts of the manual: pages in Markdown, and recipes. A recipe is a script that begins with a question and
-- contains its own output.
local core = require "moonrank.core"
local wrap = require "moonrank.help.wrap"

local M = {}

-- Chapters of the manual's guide in the order in which they are read.
M.guide = { "install", "first_steps", "lua", "python", "lists_and_metrics", "losses_and_bounds", "models",
  "data_and_protocols", "training", "sweeps", "figures", "gpu_and_cluster", "glossary" }

M.papers = { "westerborg_2022", "li_2021", "tang_2023", "segui_2022", "li_wu", "yang_2025" }

M.recipes = { "score_a_ranking", "ties", "trec_run", "worst_and_chance", "how_likely", "own_bound", "own_metric",
  "own_loss", "own_model", "own_table", "last_item", "top_ten", "query_features", "images", "bounded_training",
  "early_stopping", "two_metrics_choose", "resume_training", "same_numbers", "find_nan", "check_gradient", "sweep",
  "sweep_to_csv", "is_it_better", "compare_systems", "learning_curves" }

---Returns the text of a file of the manual. It is an error if there is no such file.
---@param name string  "guide/models.md"
function M.read(name)
  return core.stdlib_text("stdlib/manual/" .. name) or error(("the standard library has no manual/%s"):format(name), 0)
end

---Returns the names of all Markdown pages of the manual, as `moonrank doc NAME` takes them.
---Example: `require "moonrank.manual.texts".pages()[1]   --> formats`
function M.pages()
  local pages = { "formats" }
  for _, name in ipairs(M.guide) do pages[#pages + 1] = "guide/" .. name end
  for _, name in ipairs(M.papers) do pages[#pages + 1] = "papers/" .. name end
  return pages
end

-- Returns the link of the built manual for a link to a page, a recipe or a module in the sources; nil for others.
local function built_link(folder, target)
  local path, anchor = (folder .. target):gsub("[%w_]+/%.%./", ""):match "^([^#]*)(.*)$"
  local recipe, module = path:match "^cookbook/([%w_]+)%.lua$", path:match "^%.%./moonrank/([%w_]+)%.lua$"
  if recipe then return "cookbook.html#" .. recipe end
  if module then return ("reference_%s.html%s"):format(module, anchor) end
  local page = path:match "^([%w_/]+)%.md$"
  return page and ("%s.html%s"):format(page:gsub("/", "_"), anchor)
end

-- Replaces each link of the page `name` by replace(label, target, link of the built manual).
local function with_links(part, name, replace)
  local folder = name:match "^.*/" or ""
  return (part:gsub("%[([^%]\n]+)%]%(([^%s()]+)%)", function(label, target)
    return replace(label, target, built_link(folder, target))
  end))
end

---Returns a Markdown page with the links of the built manual. Links in the sources lead to source files,
---so that the pages can also be read in the repository.
---@param name string  without ".md"
---Example: `require "moonrank.manual.texts".linked("index"):match "guide%.%w*"   --> guide.html`
function M.linked(name)
  return with_links(M.read(name .. ".md"), name, function(label, _, built)
    return built and ("[%s](%s)"):format(label, built)
  end)
end

-- Returns the page `name` for a terminal: labels replace links, and captions replace the code of figures.
local function for_terminal(name)
  local text = M.read(name .. ".md")
    :gsub("```figure ([^\n]*)\n.-\n```", "Figure in the pages of `moonrank doc --html`: %1.")
  local parts = {}
  for part in (text:gsub("\n*$", "\n\n")):gmatch "(.-)\n\n" do
    local plain = with_links(part, name, function(label, target, built)
      return (built or target:match "^#") and label
    end)
    local is_prose = not (("\n" .. plain):find "\n[-|#]" or plain:find "^%d+%. " or plain:find("```", 1, true))
    parts[#parts + 1] = plain ~= part and is_prose and wrap.text(plain:gsub("\n", " "), 100) or plain
  end
  return table.concat(parts, "\n\n") .. "\n"
end

---Returns a Markdown page of the manual by its name, or nil if no page has this name. The text is for
---a terminal: links are replaced by their labels, and figures by their captions.
---@return { name: string, title: string, text: string }?
---Example: `require "moonrank.manual.texts".page("guide/sweeps").title   --> Sweeps`
function M.page(name)
  for _, each in ipairs(M.pages()) do
    if each == name then
      local text = for_terminal(name)
      if name == "formats" then text = ("%s\n%s\n"):format(text, require("moonrank.manual.schema").text()) end
      return { name = name, title = text:match "^#+ ([^\n]*)" or name, text = text }
    end
  end
end

---Returns the entries of the glossary in its order: the heading, such as "DCG and nDCG", and the text below it.
---@return { heading: string, text: string }[]
---Example: `require "moonrank.manual.texts".terms()[1].heading   --> List`
function M.terms()
  local found = {}
  for heading, text in M.page "guide/glossary".text:gmatch "%f[#]### ([^\n]+)\n\n([^#]+)" do
    found[#found + 1] = { heading = heading, text = text:gsub("\n*$", "") }
  end
  return found
end

-- Returns a term in lower case and without hyphens, so that its spellings are equal.
local function as_key(term) return (term:lower():gsub("%-", " ")) end

-- Returns the keys of a glossary entry: parts of its heading, and the full name at the beginning of its text.
local function keys_of(entry)
  local keys = {}
  for name in (entry.heading:gsub(" and ", ",") .. ","):gmatch "%s*(.-)," do keys[#keys + 1] = as_key(name) end
  local full = entry.text:match "^%u[%a -]+%f[:]"
  keys[#keys + 1] = full and as_key(full)
  return keys
end

---Returns the glossary's entry for a term as text, or nil if the glossary does not define the term.
---@param term string  "nsr" or its full name, "negative sampling ratio", in capitals or not
---Example: `require "moonrank.manual.texts".term("nsr"):match "^[^\n]*"   --> NSR`
function M.term(term)
  for _, entry in ipairs(M.terms()) do
    for _, key in ipairs(keys_of(entry)) do
      if key == as_key(term) then return entry.heading .. "\n\n" .. entry.text end
    end
  end
end

---@class mr.manual.Recipe
---@field name string
---@field title string   the question
---@field text string    explanation below the question
---@field code string
---@field output string  output of the code
---@field source string  the whole script

---Returns a recipe of the manual's cookbook by its name, or nil if no recipe has this name.
---@return mr.manual.Recipe?
---Example: `require "moonrank.manual.texts".recipe("ties").title   --> What are tied scores worth?`
function M.recipe(name)
  local known = false
  for _, each in ipairs(M.recipes) do known = known or each == name end
  if not known then return nil end
  local source = M.read("cookbook/" .. name .. ".lua")
  local head, code, output, in_head = {}, {}, {}, true
  for line in source:gmatch "([^\n]*)\n" do
    local said = in_head and line:match "^%-%- (.*)"
    in_head = said ~= nil and said ~= false
    if said then
      head[#head + 1] = said
    elseif line:match "^%-%->" then
      output[#output + 1] = line:match "^%-%-> ?(.*)"
    else
      code[#code + 1] = line
    end
  end
  return { name = name, title = head[1], text = table.concat(head, "\n", 2), code = table.concat(code, "\n"),
    output = table.concat(output, "\n"), source = source }
end

return M
