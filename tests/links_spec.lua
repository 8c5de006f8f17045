-- Tests that relative links in Markdown files lead to existing files, and their anchors to existing headings. Links of
-- the manual's HTML pages are tested in stdlib/moonrank/manual_spec.lua.
local files = require "tests.support.files"
local test = require "moonrank.test"
local core = require "moonrank.core"

-- Markdown pages that people read in the repository itself.
local function pages()
  local found = {}
  local listed = files.output "git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*'"
  for path in listed:gmatch "[^\n]+" do
    path = path:gsub("^%./", "")
    if core.is_file(path) then found[#found + 1] = path end
  end
  return found
end

-- Returns a Markdown text without its code blocks.
local function without_code(text)
  return (("\n" .. text):gsub("\n```.-\n```", "\n"))
end

-- Returns the set of anchors that GitHub makes from a page's headings.
local function anchors(path)
  local found = {}
  for heading in without_code(files.read(path)):gmatch "\n#+ ([^\n]+)" do
    local name = heading:gsub("%[(.-)%]%(.-%)", "%1"):lower()
      :gsub("[%p]", function(c) return (c == "-" or c == "_") and c or "" end):gsub(" ", "-")
    local count = found[name]
    found[name] = (count or 0) + 1
    if count then found[name .. "-" .. count] = 1 end
  end
  return found
end

-- Returns the path that a link on a page leads to, with "." and ".." resolved.
local function resolved(page, link)
  local parts = {}
  for part in ((page:match "^(.*/)" or "") .. link):gmatch "[^/]+" do
    if part == ".." then
      table.remove(parts)
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local count = 0
local function check_links(page)
  local text = without_code(files.read(page)):gsub("`[^`\n]*`", "")
  for link in text:gmatch "%]%(%s*([^%s)]+)[^)]*%)" do
    if not link:find "^%a+:" then
      count = count + 1
      local path, anchor = link:match "^([^#]*)#?(.*)$"
      local file = path == "" and page or resolved(page, path)
      test.check(core.file_exists(file), ("%s links to %s, which does not exist"):format(page, link))
      if anchor ~= "" and file:find "%.md$" and core.is_file(file) then
        test.check(anchors(file)[anchor], ("%s links to %s: no such heading"):format(page, link))
      end
    end
  end
end

test.it("relative links point to files and headings that exist", function()
  local found = pages()
  test.check(#found > 40, #found .. " pages")
  for _, page in ipairs(found) do check_links(page) end
  test.check(count > 150, count .. " links")
end)

test.it("scripts/README.md names files that exist", function()
  local names = 0
  for line in io.lines "scripts/README.md" do
    for name in (line:match "^| ([^|]+) |" or ""):gmatch "`([%w_/]+%.lua)`" do
      names = names + 1
      local folder = line:match "^| `([%w_]+/[%w_/]-)[%w_]+%.lua`" or ""
      test.check(core.is_file("scripts/" .. name) or core.is_file("scripts/" .. folder .. name), name)
    end
  end
  test.check(names > 50, names)
end)
