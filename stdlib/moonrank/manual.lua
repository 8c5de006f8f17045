-- Writes the manual as HTML pages into a folder: `moonrank doc --html DIR`. Each page can be read without other files
-- and without a network. The search needs the file search.js in the same folder.
local core = require "moonrank.core"
local check = require "moonrank.check"
local escape = require("moonrank.table").escape_html
local entries = require "moonrank.help.entries"
local formula = require "moonrank.manual.formula"
local markup = require "moonrank.manual.markup"
local pages = require "moonrank.manual.page"
local reference = require "moonrank.manual.reference"
local schema = require "moonrank.manual.schema"
local texts = require "moonrank.manual.texts"

local M = {}

-- Links that the header of every page of the manual has, as {file, title}.
local parts = { { "guide.html", "Guide" }, { "cookbook.html", "Cookbook" }, { "reference.html", "Reference" },
  { "papers.html", "Papers" }, { "formats.html", "Files" } }

-- Returns the different words of a page or recipe in lower case, for the search. Targets of links are left out.
local function words_of(text)
  local words = {}
  for word in text:gsub("%]%(%S-%)", ""):lower():gmatch "[%w\128-\255][%w_.\128-\255]+" do
    words[word:match "^(.-)%.*$"] = true
  end
  return table.concat(check.names(words), " ")
end

-- Returns the page of the manual that is made from the Markdown page `name`, such as "guide/models".
local function of_markdown(name, links)
  local text = texts.linked(name)
  local body, headings, title = markup.html(text, links)
  local file = name:gsub("/", "_") .. ".html"
  return { file = file, title = title, body = body, headings = headings, words = words_of(text) }
end

local function link_list(rows)
  local items = {}
  for i, row in ipairs(rows) do
    items[i] = ('<li><a href="%s">%s</a></li>\n'):format(escape(row.file), escape(row.title))
  end
  return "<ul>\n" .. table.concat(items) .. "</ul>\n"
end

-- Returns the page `folder`, then the pages made from the Markdown files in `folder`, each with a link to the next one.
local function chapter(folder, names, links)
  local found = { of_markdown(folder, links) }
  for i, name in ipairs(names) do
    found[i + 1] = of_markdown(folder .. "/" .. name, links)
    if i > 1 then found[i].next = found[i + 1] end
  end
  return found
end

-- Returns the first sentence of a text, without marks of Markdown.
local function sentence_of(text) return formula.plain(entries.first_sentence(text):gsub("`", "")) end

local function cookbook(links)
  local page = of_markdown("cookbook", links)
  local html, found = { page.body }, { { "", page.title, "", "", page.words } }
  for _, name in ipairs(texts.recipes) do
    local recipe = texts.recipe(name)
    page.headings[#page.headings + 1] = { level = 2, text = recipe.title, id = name }
    found[#found + 1] = { name, recipe.title, sentence_of(recipe.text), (name:gsub("_", " ")),
      words_of(recipe.source) }
    html[#html + 1] = ('<h2 id="%s">%s</h2>\n'):format(name, escape(recipe.title))
      .. markup.paragraphs(recipe.text, links) .. markup.block(recipe.code, "lua", links)
      .. markup.block(recipe.output, "output")
  end
  page.body = table.concat(html)
  return page, found
end

-- Returns the first page of the reference, and its parts for the navigation at the side of each page.
local function reference_index(book, links)
  local page = of_markdown("reference", links)
  local kinds = { { title = "Modules", pages = {} }, { title = "Classes", pages = {} },
    { title = "Option tables", pages = {} } }
  for _, each in ipairs(book.pages) do
    table.insert(kinds[each.module and 1 or each.options and 3 or 2].pages, each)
  end
  for _, part in ipairs(kinds) do
    local id = markup.id(part.title)
    part.file = "reference.html#" .. id
    page.headings[#page.headings + 1] = { level = 2, text = part.title, id = id }
    page.body = ('%s<h2 id="%s">%s</h2>\n%s'):format(page.body, id, part.title, link_list(part.pages))
  end
  return page, kinds
end

local function formats(links)
  local page = of_markdown("formats", links)
  local tables, headings = markup.html(schema.text(), links)
  page.body = page.body .. tables
  table.move(headings, 1, #headings, #page.headings + 1, page.headings)
  return page
end

-- Returns the names on all pages, for the search. `cooked` is the page of the cookbook, and `recipes` has its names.
local function search_groups(all, book, cooked, recipes)
  local groups = table.move(book.groups, 1, #book.groups, 1, {})
  for _, page in ipairs(all) do
    local found = { { "", page.title, "", "", page.words } }
    for _, each in ipairs(page.name and {} or page.headings) do
      local term = page.file == "guide_glossary.html" and texts.term(each.text) or ""
      local sentence = sentence_of((term:gsub("^[^\n]*\n+", "")))
      found[#found + 1] = { each.id, ("%s: %s"):format(page.title, each.text), sentence }
    end
    if not page.name then groups[#groups + 1] = { page.file, page == cooked and recipes or found } end
  end
  return groups
end

-- Returns all files of the manual as {name, text}: pages in the order of reading, then search.js.
local function all_files()
  local book = reference.new()
  local links = book.links
  local cooked, recipes = cookbook(links)
  local guide, papers = chapter("guide", texts.guide, links), chapter("papers", texts.papers, links)
  local index, reference_parts = reference_index(book, links)
  local all = { of_markdown("index", links) }
  local function add(list) table.move(list, 1, #list, #all + 1, all) end
  add(guide)
  add{ cooked, index }
  add(book.pages)
  add(papers)
  add{ formats(links) }
  local function part(list) return { file = list[1].file, title = list[1].title, pages = { table.unpack(list, 2) } } end
  local site = { part(guide), part{ cooked } }
  table.move(reference_parts, 1, #reference_parts, #site + 1, site)
  site[#site + 1], site[#site + 2] = part(papers), part{ all[#all] }
  local files = {}
  local o = { parts = parts, site = site, version = ("Moonrank %s"):format(core.version()) }
  for i, page in ipairs(all) do files[i] = { page.file, pages.html(page, o) } end
  files[#files + 1] = { "search.js", pages.search(search_groups(all, book, cooked, recipes)) }
  return files
end

-- True if a file belongs to a manual that an earlier run wrote. Such a file may be replaced.
local function is_own(path)
  local mark = path:match "%.html$" and pages.mark or path:match "/search%.js$" and pages.script_mark
  local file = mark and core.is_file(path) and io.open(path, "rb")
  if not file then return false end
  local head = file:read(1000) or ""
  file:close()
  return head:find(mark, 1, true) ~= nil
end

local function refuse(folder, name)
  check.fail("doc --html: %s contains '%s', which is not a page of the manual. Nothing was written. Name a new or an "
    .. "empty folder", folder, core.safe_text(name))
end

-- Raises an error if `folder` is a file, or a folder with files other than pages of the manual.
local function check_folder(folder)
  check.path("doc --html", folder, "folder")
  if not core.file_exists(folder) then return end
  check.expect(core.file_exists(folder .. "/."), "doc --html", "folder", folder, "a folder or a new name, not a file")
  local names = core.list_folder(folder)
  table.sort(names)
  for _, name in ipairs(names) do
    if not is_own(folder .. "/" .. name) then refuse(folder, name) end
  end
end

---Writes the manual into a folder, and replaces pages of an earlier one. If the folder has any other file, an error is
---raised and nothing is written.
---@return string  text for the user: the number of pages, and the page to begin with
function M.write(folder)
  check_folder(folder)
  local all = all_files()
  check.within("doc --html", core.make_folder, folder .. "/index.html")
  -- check each file again, because the folder may have changed since `check_folder` listed it
  for _, page in ipairs(all) do
    if core.file_exists(folder .. "/" .. page[1]) and not is_own(folder .. "/" .. page[1]) then
      refuse(folder, page[1])
    end
  end
  for _, page in ipairs(all) do check.within("doc --html", core.write_file, folder .. "/" .. page[1], page[2]) end
  return ("%d pages; begin with %s/index.html"):format(#all - 1, (folder:gsub("(.)/+$", "%1")))
end

return M
