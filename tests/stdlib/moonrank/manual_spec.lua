-- Tests the manual as HTML pages: it must be complete, with valid links, load nothing from a network, and writing it
-- must not change other folders.
local says = require "tests.support.says"
local test = require "moonrank.test"
local core = require "moonrank.core"
local mr = require "moonrank"
local bounds = require "moonrank.bounds.registry"
local code = require "moonrank.manual.code"
local docs = require "moonrank.help.docs"
local manual = require "moonrank.manual"
local markup = require "moonrank.manual.markup"
local html = dofile "tests/support/html.lua"
local program = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, check = test.it, test.equal, test.check

local pages, texts, names = {}, {}, {}
sweeps.in_folder(function(folder)
  manual.write(folder .. "/a/manual")
  for _, name in ipairs(core.list_folder(folder .. "/a/manual")) do
    texts[name] = sweeps.read(folder .. "/a/manual/" .. name)
    if name:match "%.html$" then names[#names + 1], pages[name] = name, html.read(texts[name]) end
  end
end)
table.sort(names)

it("every page of the manual is valid HTML with escaped text and one heading h1", function()
  check(#names > 60, #names .. " pages")
  for _, name in ipairs(names) do
    equal(pages[name].problems, {}, name)
    equal(pages[name].tags.h1, 1, name)
  end
end)

it("ids in the manual are unique on each page", function()
  for _, name in ipairs(names) do
    for id, count in pairs(pages[name].ids) do
      check(count == 1 and not id:find "%s", ("%s: id '%s' %d times"):format(name, id, count))
    end
  end
end)

it("links in the manual lead to existing pages and ids", function()
  local count = 0
  for _, name in ipairs(names) do
    for _, link in ipairs(pages[name].links) do
      local file, id = link:match "^([^#]*)#?(.*)$"
      local page = pages[file == "" and name or file]
      check(page and (id == "" or page.ids[id]), ("%s: no %s"):format(name, link))
      count = count + 1
    end
  end
  check(count > 3000, count .. " links")
end)

it("texts of functions with options repeat no default of an option", function()
  local entries, count = require "moonrank.help.entries", 0
  for _, entry in ipairs((entries.all())) do
    local described = (entry.item or type(entry.value) == "function") and entries.describe(entry)
    for _, param in ipairs(described and described.params or {}) do
      if param.type:find "Options" then
        count = count + 1
        check(not described.text:find "%(default" and not described.text:find "by default[.,)]",
          entry.path .. ": " .. described.text)
      end
    end
  end
  check(count > 100, count)
end)

it("no page of the manual has a backtick or a link in Markdown outside of code", function()
  for _, name in ipairs(names) do
    local text = texts[name]
    for _, tag in ipairs{ "style", "script", "code" } do
      text = text:gsub(("<%s>.-</%s>"):format(tag, tag), "")
    end
    local at = text:find("`", 1, true) or text:find("](", 1, true)
    check(not at, ("%s: %s"):format(name, at and text:sub(math.max(at - 60, 1), at + 60)))
  end
end)

it("every page of the manual can be reached from index.html", function()
  local seen, queue = { ["index.html"] = true }, { "index.html" }
  while #queue > 0 do
    for _, link in ipairs(pages[table.remove(queue)].links) do
      local file = link:match "^[^#]+"
      if file and not seen[file] then
        seen[file] = true
        queue[#queue + 1] = file
      end
    end
  end
  for _, name in ipairs(names) do check(seen[name], name) end
end)

it("the manual loads nothing from other files or addresses, except its own search.js", function()
  local script = core.stdlib_text "stdlib/manual/search.js"
  for _, name in ipairs(names) do
    local tags, sources = pages[name].tags, {}
    check(not (tags.link or tags.iframe or tags.base), name)
    equal({ tags.style, tags.script }, { 1, 1 }, name)
    for _, source in ipairs(pages[name].sources) do
      if not source:match "^data:image/" then sources[#sources + 1] = source end
    end
    equal(sources, { "search.js" }, name)
    local style = texts[name]:match "<style>(.-)</style>"
    for _, word in ipairs{ "url%(", "@import", "://", "fetch", "XMLHttp", "innerHTML" } do
      check(not style:find(word) and not script:find(word), name .. ": " .. word)
    end
  end
end)

it("search.js has synonyms and endings of `moonrank doc`, sentences, and names in other libraries", function()
  local script, search = texts["search.js"], require "moonrank.help.search"
  for word, ours in pairs(search.synonyms) do check(script:find(('["%s","%s"]'):format(word, ours), 1, true), word) end
  for _, ending in ipairs(search.endings) do check(script:find(('"%s"'):format(ending), 1, true), ending) end
  local cutoff = script:match '%["mr%.metrics%.Options%.k",.-%]'
  check(cutoff:find("first k ranks", 1, true) and cutoff:find("top_k", 1, true), cutoff)
  check(not script:match('%["mr%.smooth%.rank",.-%]'):find "%$", "formulas without dollar signs")
  check(script:find('%["","Coming from Python",[^%]]* torch%.cat '), "words of a page")
  check(script:find('%["ties",[^%]]* tied '), "words of a recipe")
  check(#script < 420000, "the search index is small: " .. #script)
  check(script:find('%["nsr","Glossary: NSR","[^"]*sampled'), "terms of the glossary")
end)

it("a page of the manual has links to the pages of its part, and marks itself", function()
  local function site(name) return texts[name]:match '<nav class="site".-</nav>' end
  local training = site "guide_training.html"
  check(training:find('<a href="guide_training.html" aria-current="page">', 1, true), training)
  for _, file in ipairs{ "guide_sweeps.html", "cookbook.html", "reference.html#option-tables", "papers.html" } do
    check(training:find(('<a href="%s">'):format(file), 1, true), file)
  end
  check(not training:find("class_Run.html", 1, true), "pages of another part")
  check(site "class_Fold.html":find("class_Run.html", 1, true), "classes")
  check(site "options_FitOptions.html":find("options_SweepOptions.html", 1, true), "option tables")
end)

it("formats.html of the manual names every metadata field of a model file", function()
  local folder = sweeps.new_folder()
  mr.models.random{}:save(folder .. "/model")
  local said = sweeps.read(folder .. "/model"):match '"__metadata__":(%b{})'
  for name in said:gmatch '"([^"]*)":' do
    check(name == "seed" or texts["formats.html"]:find(name, 1, true), name)
  end
end)

it("the manual has styles for phones, dark mode and print", function()
  local index = texts["index.html"]
  says(index, 'name="viewport"', "prefers-color-scheme: dark", "@media print", "max-width: 52rem")
end)

-- Returns the public names without using the reference: functions of `mr` and of its modules, methods of the core's
-- classes that scripts get, and options.
local function public_names()
  local found = {}
  for _, name in ipairs(mr.names()) do
    local value = mr[name]
    if type(value) == "function" then found["mr." .. name] = "reference_mr.html" end
    if type(value) == "table" and name ~= "core" then
      for key, each in next, value do
        local is_public = type(each) == "function" and not key:match "^_"
        if is_public then found[("mr.%s.%s"):format(name, key)] = ("reference_%s.html"):format(name) end
      end
    end
  end
  for name, class in pairs(core.classes) do
    for method in pairs(docs.is_internal(name) and {} or class.methods) do
      found[name .. ":" .. method] = ("class_%s.html"):format(name:match "%w+$")
    end
  end
  for _, name in ipairs{ "mr.FitOptions", "mr.SweepOptions", "mr.CompareOptions", "mr.FitCheckpoint",
    "mr.losses.Options", "mr.metrics.Options", "mr.Run", "mr.Fold" } do
    local kind = (name:match "Options$" or name == "mr.FitCheckpoint") and "options" or "class"
    local file = ("%s_%s.html"):format(kind, name:gsub("^mr%.", ""):gsub("%.", "_"))
    for _, field in ipairs(docs.fields(name)) do found[name .. "." .. field.name] = file end
  end
  for _, name in ipairs(bounds.names()) do found["bound." .. name] = "reference_bounds.html" end
  for _, name in ipairs(mr.metrics.names()) do found["metric." .. name] = "reference_metrics.html" end
  return found
end

it("every public name has an entry in the manual and in its search index", function()
  local count, all = 0, {}
  local groups = require("moonrank.manual.reference").new().groups
  for _, group in ipairs(groups) do
    for _, each in ipairs(group[2]) do all[each[1]] = group[1] end
  end
  for name, file in pairs(public_names()) do
    check(pages[file] and pages[file].ids[name], ("%s is not on %s"):format(name, file))
    equal(all[name], file, name)
    count = count + 1
  end
  check(count > 300, count .. " names")
end)

it("each class has a page that says what it is, and internal classes have none", function()
  local count = 0
  for _, name in ipairs(docs.class_names()) do
    local page = texts[("class_%s.html"):format(name:match "%w+$")]
    if docs.is_internal(name) then
      check(not page, name)
    else
      local text = page and page:match("</h1>(.-)<h[23]") or ""
      check(text:gsub("<[^>]*>", ""):find "%w", name .. " is not described")
      count = count + 1
    end
  end
  check(count > 30, count .. " classes")
end)

it("the manual's reference shows options, sources and linked types like `moonrank doc`", function()
  local text = pages["reference_mr.html"].text:gsub("%s+", " ")
  says(text, "choose_on", "patience", "stdlib/moonrank/fit.lua:")
  local minmax = texts["reference_bounds.html"]:match '<h3 id="bound.minmax">.-</section>'
  check(minmax:match '<math [^>]*alttext="%(M %- min%) / %(max %- min%)"><mfrac>', "the formula of minmax")
  local types = texts["options_FitOptions.html"]:match '<tr id="mr.FitOptions.model">.-</tr>'
  check(types:find('<a href="class_Model.html#mr.Model">mr.Model</a>', 1, true), types)
end)

it("an option table has a page, with links to and from the functions that take it", function()
  local function linked(file, target)
    for _, link in ipairs(pages[file].links) do
      if link == target then return true end
    end
    return false
  end
  for file, takers in pairs{ FitOptions = { "reference_mr.html#mr.fit" },
    losses_Options = { "reference_losses.html#mr.losses.ndcg", "reference_losses.html#mr.losses.ap" },
    PivotOptions = { "class_Results.html#mr.Results:pivot" },
    sweep_TpeOptions = { "options_SweepOptions.html#mr.SweepOptions.sampler" } } do
    local name = "options_" .. file .. ".html"
    check(linked("reference.html", name), "the reference lists " .. name)
    for _, taker in ipairs(takers) do
      check(linked(name, taker), name .. ": " .. taker)
      local id = "#mr." .. file:gsub("_", ".")
      check(taker:match "^options" or linked(taker:match "^[^#]*", name .. id), taker .. ": " .. id)
    end
  end
end)

it("the manual's markup escapes texts and links the names in them", function()
  local links = { ["mr.fit"] = "r.html#mr.fit" }
  equal(markup.inline("a < b & `x[\"<script>\"]`", links), "a &lt; b &amp; <code>x[&quot;&lt;script&gt;&quot;]</code>")
  equal(markup.inline("a `b =\n1` c", links), "a <code>b = 1</code> c")
  equal(markup.inline("see mr.fit{x}, mr.fitting, amr.fit", links),
    'see <a href="r.html#mr.fit">mr.fit</a>{x}, mr.fitting, amr.fit')
  equal(markup.inline("[A <b>](c.html#d) **e f**", {}), '<a href="c.html#d">A &lt;b&gt;</a> <strong>e f</strong>')
  equal(code.html("local s = \"</pre>\" -- a < b\nmr.fit(1)", links),
    '<span class="k">local</span> s = <span class="s">&quot;&lt;/pre&gt;&quot;</span> '
    .. '<span class="c">-- a &lt; b</span>\n<a href="r.html#mr.fit">mr.fit</a>(<span class="n">1</span>)')
  equal(code.html("x = [[ not", {}), "x = [[ not")
  equal(code.html("local mr = f() --> 1", { mr = "r.html#mr" }),
    '<span class="k">local</span> mr = f() <span class="c">--&gt; 1</span>')
  local body, headings, title = markup.html("# T\n\nOne\ntwo.\n\n## A & b\n- c\n  d\n- e\n\n"
    .. "| f | g |\n|---|---|\n| h | `i` |\n\n```lua\nx = 1 < 2\n```\n")
  equal(title, "T")
  equal(headings, { { level = 2, text = "A & b", id = "a-b" } })
  equal(body, "<p>One\ntwo.</p>\n" .. '<h2 id="a-b">A &amp; b</h2>\n' .. "<ul>\n<li>c\nd</li>\n<li>e</li>\n</ul>\n"
    .. '<div class="wide"><table>\n<thead><tr><th>f</th><th>g</th></tr></thead>\n'
    .. '<tbody>\n<tr><td>h</td><td><code>i</code></td></tr>\n</tbody></table></div>\n'
    .. '<pre><code>x = <span class="n">1</span> &lt; <span class="n">2</span></code></pre>\n')
end)

it("manual.write refuses a folder with other files, a file and an impossible path, and writes nothing", function()
  local folder = sweeps.new_folder()
  core.make_folder(folder .. "/mine/index.html")
  core.write_file(folder .. "/mine/index.html", "<p>mine")
  test.raises(function() manual.write(folder .. "/mine") end, "'index.html'")
  equal(sweeps.capture("ls " .. folder .. "/mine"), "index.html\n")
  equal(sweeps.read(folder .. "/mine/index.html"), "<p>mine")
  test.raises(function() manual.write(folder .. "/mine/index.html") end, "file", "folder")
  test.raises(function() manual.write(folder .. "/mine/index.html/deeper") end, folder .. "/mine/index.html/deeper")
  test.raises(function() manual.write "" end, "folder", "''")
  os.execute("mkdir " .. folder .. "/other " .. folder .. "/other/reference")
  test.raises(function() manual.write(folder .. "/other") end, "'reference/'")
  equal(sweeps.capture("ls " .. folder .. "/other"), "reference\n")
end)

it("manual.write updates an earlier manual, and keeps pages that it no longer makes", function()
  local folder = sweeps.new_folder()
  manual.write(folder)
  local first, mark = sweeps.read(folder .. "/index.html"), require("moonrank.manual.page").mark
  core.write_file(folder .. "/index.html", mark .. "old")
  core.write_file(folder .. "/gone.html", mark .. "old")
  manual.write(folder .. "/")
  equal(sweeps.read(folder .. "/index.html"), first)
  core.write_file(folder .. "/search.js", "mine")
  test.raises(function() manual.write(folder) end, "'search.js'")
  equal(sweeps.read(folder .. "/gone.html"), mark .. "old")
end)

it("`moonrank doc --html` prints what it wrote, and refuses wrong arguments", function()
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local folder = sweeps.new_folder()
  local function run(words) return program.run(("cd %s && %s doc %s"):format(folder, program.moonrank, words)) end
  local ok, said = run "--html pages"
  check(ok and said:find(("^%d pages.*pages/index.html\n$"):format(#names)), said)
  for words, message in pairs{ ["--html"] = "folder", ["--html a b"] = "folder", ["ndcg --html a"] = "--html",
    ["--html --help"] = "usage", ["--html --threads"] = "'--threads'", ["--htm a"] = "'--html'",
      ["--help"] = "doc --html DIR" } do
    local _, found = run(words)
    check(found:find(message, 1, true), words .. ": " .. found)
  end
  equal(sweeps.capture("ls " .. folder), "pages\n")
end)
