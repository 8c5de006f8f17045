-- Draws the figures of the manual while its pages are built. A page names the code that draws a figure:
--
--   ```figure Caption
--   return mr.bounds.plot("minmax")
--   ```
--
-- The picture is a part of the page, because pages work without other files.
local check = require "moonrank.check"
local core = require "moonrank.core"
local escape = require("moonrank.table").escape_html

local M = {}

-- size in pixels of a figure with one panel: small enough that its text is legible on a phone
local width, height = 480, 320

-- Runs the code of a figure. After Ctrl-C a training in it returns early, so the error "interrupted" is raised.
local function figure_of(code)
  local run = assert(load('local mr = require "moonrank" ' .. code, "=figure", "t"))
  local before = core.interrupts()
  local ok, figure = pcall(run)
  if core.interrupts() > before then error("interrupted", 0) end
  if not ok then error(figure, 0) end
  if figure.kind ~= "facets" then figure.width, figure.height = width, height end
  return figure
end

-- Returns a picture as a data: URL, an address that contains the whole picture.
local function address(svg)
  return "data:image/svg+xml," .. svg:gsub("%s+", " "):gsub('[%%#"<>&\128-\255]', function(byte)
    return ("%%%02X"):format(byte:byte())
  end)
end

---Returns a figure as HTML. Without gnuplot it says in one line that the figure is missing, and why.
---@param code string     Lua code that returns a figure; `mr` is the library
---@param caption string  HTML
---@param text string     caption without HTML, for readers who do not see the figure
function M.html(code, caption, text)
  local figure = figure_of(code)
  local ok, svg = check.attempt(figure.to_svg, figure)
  if not ok then
    return ('<p class="missing">Figure "%s" is missing: %s</p>\n'):format(caption,
      escape(check.reason(core.error_text(svg))))
  end
  local html = '<figure><img alt="%s" width="%d" height="%d" src="%s"><figcaption>%s</figcaption></figure>\n'
  return html:format(escape(text), figure.width, figure.height, address(svg), caption)
end

return M
