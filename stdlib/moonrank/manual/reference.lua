-- Makes the pages of the manual's reference from the documentation that `moonrank doc` prints: a page for `mr`, for
-- each of its modules, for each class and for each option table.
local check = require "moonrank.check"
local entries = require "moonrank.help.entries"
local docs = require "moonrank.help.docs"
local bounds = require "moonrank.bounds.registry"
local metrics = require "moonrank.metrics.registry"
local escape = require("moonrank.table").escape_html
local figures = require "moonrank.manual.figures"
local formula = require "moonrank.manual.formula"
local markup = require "moonrank.manual.markup"

local M = {}

-- Option tables of samplers and pruners, and the option of mr.sweep that takes them.
local by_name = { ["mr.sweep.TpeOptions"] = "sampler", ["mr.sweep.GenerationOptions"] = "sampler",
  ["mr.sweep.MedianOptions"] = "pruner", ["mr.sweep.AshaOptions"] = "pruner",
  ["mr.sweep.HyperbandOptions"] = "pruner", ["mr.sweep.WilcoxonOptions"] = "pruner" }

local function classes_in(kind) return kind:gmatch "mr%.[%w_.]*[%w_]" end

-- Returns the file of the page that describes a class or an option table. A class within a module, such as
-- mr.sweep.Trial, is on the page of the module.
local function file_of_class(self, name, modules)
  if self.is_options[name] then return ("options_%s.html"):format(name:gsub("^mr%.", ""):gsub("%.", "_")) end
  local own = name:match "^mr%.(%u%w*)$"
  if own then return ("class_%s.html"):format(own) end
  local module = name:match "^mr%.(%l%w*)%."
  return ("reference_%s.html"):format(module and modules[module] and module or "mr")
end

---@class mr.manual.Reference
---@field links table<string, string>  link to the description of each name
---@field pages mr.manual.Page[]       pages, first without their bodies
---@field groups table[]               names for the search, by page: file, and anchor, name, sentence and other names
---   of each

-- Makes an empty page of the reference. Book:place later adds the names that the page describes.
local function new_page(file, name, text)
  return { file = file, title = name, id = name, name = name, headings = {}, parts = {},
    found = { { name, name, text } } }
end

local Book = {}
Book.__index = Book

-- Gives a name its anchor `id` on a page; returns false if it already has one, because each name is described only
-- once. `text` and `also` are for the search: the description, and names in other libraries.
function Book:place(page, id, name, text, also)
  if self.links[name] then return false end
  self.links[name] = page.file .. "#" .. id
  local sentence = formula.plain(entries.first_sentence(text or ""):gsub("`", ""))
  page.found[#page.found + 1] = { id, name, sentence, also and table.concat(also, " ") }
  return true
end

-- Gives a function, a method or a computed field its anchor on a page, like Book:place does for other names.
function Book:place_entry(page, entry)
  return self:place(page, entry.path, entry.path, (entries.describe(entry) or {}).text)
end

function Book:page(file, name, text)
  local page = new_page(file, name, text)
  self.pages[#self.pages + 1], self.by_file[file] = page, page
  self.links[name] = file .. "#" .. name
  return page
end

local function put(page, ...)
  for _, text in ipairs{ ... } do page.parts[#page.parts + 1] = text end
end

local function heading(page, level, text, id)
  page.headings[#page.headings + 1] = { level = level, text = text, id = id }
end

-- Returns a LuaCATS type such as "mr.Tensor[]" as HTML. Names of classes in the type become links.
function Book:type(kind)
  if kind == "" then return "" end
  local text = escape(kind):gsub("mr%.[%w_.]*[%w_]", function(name)
    return self.links[name] and ('<a href="%s">%s</a>'):format(escape(self.links[name]), name) or nil
  end)
  return "<code>" .. text:gsub("|", "|<wbr>") .. "</code>"
end

-- Returns arguments, fields or options as an HTML table. With a `prefix`, each row has an anchor.
function Book:rows(list, prefix)
  local parts, group = { '<div class="wide"><table class="fields">\n' }, nil
  for _, each in ipairs(list) do
    if each.group ~= group then
      group = each.group
      parts[#parts + 1] = ('<tr><th colspan="3">%s</th></tr>\n'):format(escape(group))
    end
    local id = prefix and (' id="%s"'):format(escape(prefix .. each.name)) or ""
    parts[#parts + 1] = ("<tr%s><td><code>%s%s</code></td><td>%s</td><td>%s</td></tr>\n"):format(id, escape(each.name),
      each.optional and "?" or "", self:type(each.type), markup.inline(each.text, self.links))
  end
  return table.concat(parts) .. "</table></div>\n"
end

local function label(text) return '<p class="label">' .. text .. "</p>\n" end

-- Returns the documentation of a function as HTML: text, arguments, results and examples.
function Book:details(d)
  local parts = {}
  local function add(text) parts[#parts + 1] = text end
  add(markup.paragraphs(d.text, self.links))
  if #d.params > 0 then add(label "Arguments" .. self:rows(d.params)) end
  for _, p in ipairs(d.params) do
    local fields, class = entries.options_of(p), p.type:gsub("[%?%[%]]", "")
    if fields and #fields > 0 and self.is_options[class] then
      local summary = "<details><summary>Fields of <code>%s</code></summary>\n%s</details>\n"
      add(summary:format(escape(p.name), self:rows(fields)))
    end
  end
  if #d.returns > 0 then
    add(label "Returns")
    for _, r in ipairs(d.returns) do
      add(("<p>%s %s</p>\n"):format(self:type(r.type), markup.inline(r.text, self.links)))
    end
  end
  for _, example in ipairs(d.examples) do add(label "Example" .. markup.block(example, "lua", self.links)) end
  if d.source then add(('<p class="source">%s:%d</p>\n'):format(escape(d.source), d.line)) end
  return table.concat(parts)
end

-- Adds the documentation of a function, a method or a computed field to a page. A metric without a docstring gets the
-- text in the metric registry.
function Book:entry(page, entry)
  local d = entries.describe(entry)
  local own = entry.path:match "^mr%.metrics%.([%w_]+)$"
  local body = d and self:details(d) or own and metrics.written(own)
    and markup.paragraphs(metrics.written(own), self.links) or ""
  heading(page, 3, entry.path:sub(#page.name + 1):gsub("^%.", ""), entry.path)
  local rest = d and d.title:sub(#entry.path + 1) or ""
  put(page, ('<section class="entry"><h3 id="%s"><a href="#%s">%s</a>%s</h3>\n'):format(escape(entry.path),
    escape(entry.path), escape(entry.path), escape(rest)), body, "</section>\n")
end

local function section(page, title)
  local id = markup.id(title)
  heading(page, 2, title, id)
  put(page, ('<h2 id="%s">%s</h2>\n'):format(escape(id), escape(title)))
end

-- Adds a class and its fields to a page. The C++ core computes the fields in `computed`.
function Book:class(page, name, computed)
  local class, fields = docs.class(name), {}
  table.move(docs.fields(name) or {}, 1, #(docs.fields(name) or {}), 1, fields)
  for _, entry in ipairs(computed or {}) do
    local d = entries.describe(entry) or { returns = {}, text = "" }
    fields[#fields + 1] = { name = entry.path:sub(#name + 2), type = d.returns[1] and d.returns[1].type or "",
      text = d.text }
  end
  if class and class.text ~= "" then put(page, markup.paragraphs(class.text, self.links)) end
  if computed and #fields > 0 then section(page, "Fields") end
  if #fields > 0 then put(page, self:rows(fields, name .. ".")) end
end

-- Returns the methods of a class, and the fields that the core computes. Fields that `---@field` declares are left out.
local function members_of(self, name)
  local methods, computed, seen = {}, {}, {}
  for _, field in ipairs(docs.fields(name) or {}) do seen[name .. "." .. field.name] = true end
  for _, entry in ipairs(entries.class_members(name, self.all)) do
    if not seen[entry.path] then table.insert(entry.getter and computed or methods, entry) end
    seen[entry.path] = true
  end
  return methods, computed
end

function Book:class_page(page)
  local methods, computed = members_of(self, page.name)
  self:class(page, page.name, computed)
  if #methods > 0 then section(page, "Methods") end
  for _, entry in ipairs(methods) do self:entry(page, entry) end
end

-- Fills the page of an option table: the functions that take the table, and the options.
function Book:option_page(page)
  local name = page.name
  for _, field in ipairs(docs.fields(name)) do heading(page, 2, field.name, name .. "." .. field.name) end
  local takers = self.takers[name] or {}
  if by_name[name] then takers = { ("mr.SweepOptions.%s"):format(by_name[name]) } end
  if #takers > 0 then put(page, markup.paragraphs("Options of " .. table.concat(takers, ", ") .. ".", self.links)) end
  self:class(page, name)
end

-- Adds a section with all bounds or all metrics to a page. `above(name)` is HTML that precedes the text.
local function registered(self, page, title, what, of, above)
  section(page, title)
  for _, name in ipairs(of.names()) do
    local id, text = what .. "." .. name, of.written(name):gsub("^[^\n]*\n*", "")
    -- the text's lines with the formula are dropped, because the HTML above shows the formula
    if above then text = text:gsub("^  bounded value: [^\n]*\n  source: *", "Source: ") end
    heading(page, 3, name, id)
    put(page, ('<section class="entry"><h3 id="%s">%s</h3>\n'):format(escape(id), escape(name)),
      above and above(name) or "", markup.paragraphs(text, self.links), "</section>\n")
  end
end

-- Returns the formula and the figure of a bound as HTML, which is empty for a bound of a script.
local function drawn_bound(name)
  if not bounds.builtin(name) then return "" end
  local caption = ("Values of %s for lists with P relevant rows and 2 P other rows"):format(name)
  return ('<p class="formula">%s</p>\n'):format(formula.html(bounds.formula(name), true))
    .. figures.html(("return mr.bounds.plot(%q, { nsr = { 2 } })"):format(name), caption, caption)
end

function Book:module_page(page)
  local module, path = page.module, page.name
  put(page, markup.paragraphs(entries.header_of(module) or "", self.links))
  local rows = {}
  for _, name in ipairs(entries.members(module)) do
    local link = self.links[path .. "." .. name]
    if link then
      rows[#rows + 1] = ('<tr><td><a href="%s"><code>%s</code></a></td><td>%s</td></tr>\n'):format(escape(link),
        escape(name), markup.inline(entries.member_summary(module, name), self.links))
    end
  end
  put(page, '<div class="wide"><table class="names">\n', table.concat(rows), "</table></div>\n")
  section(page, "Functions")
  for _, entry in ipairs(page.functions) do self:entry(page, entry) end
  if path == "mr.bounds" then registered(self, page, "Bounds by name", "bound", bounds, drawn_bound) end
  if path == "mr.metrics" then registered(self, page, "Metrics by name", "metric", metrics) end
  if #page.classes > 0 then section(page, "Types") end
  for _, name in ipairs(page.classes) do
    heading(page, 3, name, name)
    put(page, ('<section class="entry"><h3 id="%s">%s</h3>\n'):format(escape(name), escape(name)))
    self:class(page, name)
    put(page, "</section>\n")
  end
end

-- Makes a page for each module of `mr`, and gives the module's functions their anchors on the page.
local function place_modules(self, root)
  local modules = { mr = { file = "reference_mr.html", value = root } }
  for _, entry in ipairs(self.all) do
    local name = type(entry.value) == "table" and entry.path:match "^mr%.([%w_]+)$"
    if name then modules[name] = { file = ("reference_%s.html"):format(name), value = entry.value } end
  end
  local names = check.names(modules)
  table.sort(names, function(a, b) return a ~= b and (a == "mr" or b ~= "mr" and a < b) end)
  for _, name in ipairs(names) do
    local header = entries.header_of(modules[name].value) or ""
    local page = self:page(modules[name].file, name == "mr" and "mr" or "mr." .. name, entries.first_sentence(header))
    page.module, page.functions, page.classes = modules[name].value, {}, {}
  end
  for _, entry in ipairs(self.all) do
    local at = entry.path:match "^mr%.([%w_]+)%.[%l_][%w_]*$" or entry.path:match "^mr%.[%l_][%w_]*$" and "mr"
    local page = at and modules[at] and type(entry.value) == "function" and self.by_file[modules[at].file]
    if page and self:place_entry(page, entry) then table.insert(page.functions, entry) end
  end
  for what, of in pairs{ bound = bounds, metric = metrics } do
    for _, name in ipairs(of.names()) do
      local text = what == "metric" and entries.metric_summary(name)
        or "Bounded value: " .. (of.written(name):match "bounded value: ([^\n]*)" or name)
      self:place(self.by_file[("reference_%ss.html"):format(what)], what .. "." .. name, name, text)
    end
  end
  return modules
end

local function place_classes(self, modules)
  for _, name in ipairs(check.names(entries.public_classes(self.all, by_name))) do
    local file = file_of_class(self, name, modules)
    local page = self.by_file[file]
    if page then
      table.insert(page.classes, name)
      self:place(page, name, name)
    else
      page = self:page(file, name)
      page.options = self.is_options[name]
    end
    for _, field in ipairs(docs.fields(name) or {}) do
      self:place(page, name .. "." .. field.name, name .. "." .. field.name, field.text, field.also)
    end
    if not page.classes then
      for _, members in ipairs{ members_of(self, name) } do
        for _, entry in ipairs(members) do self:place_entry(page, entry) end
      end
    end
  end
end

-- Returns the functions, methods and options that take each option table: lists of their names, by the table's name.
local function takers_of(self)
  local takers = {}
  local function add(kind, taker)
    for name in classes_in(kind) do
      local list = takers[name] or {}
      takers[name] = list
      if list[#list] ~= taker then list[#list + 1] = taker end
    end
  end
  for _, entry in ipairs(self.all) do
    local d = self.links[entry.path] and type(entry.value) ~= "table" and entries.describe(entry)
    for _, p in ipairs(d and d.params or {}) do add(p.type, entry.path) end
  end
  for _, page in ipairs(self.pages) do
    for _, field in ipairs(page.options and docs.fields(page.name) or {}) do
      add(field.type, page.name .. "." .. field.name)
    end
  end
  return takers
end

---Returns the reference: pages with their bodies as HTML, and the link to the description of each name.
---@return mr.manual.Reference
---Example: `require "moonrank.manual.reference".new().links["mr.fit"]   --> reference_mr.html#mr.fit`
function M.new()
  local all, root = entries.all()
  local book = setmetatable({ all = all, links = {}, pages = {}, by_file = {}, groups = {}, is_options = {} }, Book)
  for _, name in ipairs(docs.option_names()) do book.is_options[name] = true end
  place_classes(book, place_modules(book, root))
  book.takers = takers_of(book)
  for _, page in ipairs(book.pages) do
    local write = page.module and book.module_page or page.options and book.option_page or book.class_page
    write(book, page)
    page.body = table.concat(page.parts)
    book.groups[#book.groups + 1] = { page.file, page.found }
  end
  return book
end

return M
