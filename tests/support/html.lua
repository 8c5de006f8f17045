-- A parser of HTML for tests that is stricter than browsers: tags are closed in order, text has no bare < or &, and
-- attributes have quotes.
local M = {}

local void = { meta = true, input = true, br = true, link = true, img = true, hr = true, wbr = true }

---@class html.Page
---@field ids table<string, integer>     how often each is there
---@field links string[]                 values of href
---@field sources string[]               values of src
---@field tags table<string, integer>
---@field problems string[]
---@field text string                    without tags

local function unescaped(text)
  return (text:gsub("&(%w+);", { amp = "&", lt = "<", gt = ">", quot = '"' }))
end

-- Reads the attributes of a tag, and adds its id and link to `page`.
local function read_attributes(page, tag, rest)
  local left = rest:gsub('%s([%w-]+)="([^"<]*)"', function(name, value)
    value = unescaped(value)
    if name == "id" then page.ids[value] = (page.ids[value] or 0) + 1 end
    if name == "href" then page.links[#page.links + 1] = value end
    if name == "src" then page.sources[#page.sources + 1] = value end
    if name == "action" or name:match "^on" then
      page.problems[#page.problems + 1] = tag .. " has " .. name
    end
    return ""
  end):gsub("%shidden", "")
  if left:find "%S" then page.problems[#page.problems + 1] = ("<%s%s>: attributes"):format(tag, rest) end
end

---@param html string
---@return html.Page
function M.read(html)
  local page = { ids = {}, links = {}, sources = {}, tags = {}, problems = {}, text = "" }
  local open, texts = {}, {}
  local body = html:match "^<!DOCTYPE html>\n(.*)$"
  if not body then page.problems[1] = "no doctype" return page end
  body = body:gsub("<(style)>.-</style>", "<%1></%1>"):gsub("<(script)>.-</script>", "<%1></%1>")
  for before, tag, rest in (body .. "<end>"):gmatch "([^<]*)<(/?%w+)([^>]*)>" do
    texts[#texts + 1] = unescaped(before)
    if before:gsub("&%l+;", ""):find "&" then page.problems[#page.problems + 1] = "a bare & in: " .. before end
    if before:find ">" then page.problems[#page.problems + 1] = "a bare > in: " .. before end
    if tag:match "^/" then
      local expected = table.remove(open)
      if "/" .. tostring(expected) ~= tag then
        page.problems[#page.problems + 1] = ("<%s> where <%s> is open"):format(tag, tostring(expected))
      end
    elseif tag ~= "end" then
      page.tags[tag] = (page.tags[tag] or 0) + 1
      read_attributes(page, tag, rest)
      if not void[tag] then open[#open + 1] = tag end
    end
  end
  local _, all = body:gsub("<", "")
  local _, read = body:gsub("</?%w+[^<>]*>", "")
  if all ~= read then page.problems[#page.problems + 1] = ("%d < that begin no tag"):format(all - read) end
  if #open > 0 then page.problems[#page.problems + 1] = "not closed: " .. table.concat(open, " ") end
  page.text = table.concat(texts)
  return page
end

return M
