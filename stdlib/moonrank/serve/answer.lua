-- Answers of `moonrank serve`: from a request to a status, headers and a body. It has no socket, so that specs can ask.
local check = require "moonrank.check"
local core = require "moonrank.core"
local html = require "moonrank.serve.html"
local request = require "moonrank.serve.request"
local stores = require "moonrank.sweep.store"
local studies = require "moonrank.serve.study"
local trials = require "moonrank.serve.trial"

local M = {}

local page_type <const> = "text/html; charset=utf-8"

local pages = {
  ["/"] = studies.index,
  ["/study"] = studies.page,
  ["/trial"] = trials.page,
  ["/compare"] = trials.compare,
}

local files = {
  ["/app.js"] = { "stdlib/serve/app.js", "text/javascript; charset=utf-8" },
  ["/app.css"] = { "stdlib/serve/style.css", "text/css; charset=utf-8" },
}

-- Returns a page with one sentence.
local function told(status, title, sentence, headers, live)
  local body = ('<h1>%s</h1><p class="note">%s</p>'):format(html.text(title), html.text(sentence))
  return status, request.headers(page_type, headers), html.page(title, { { title } }, body, live or false)
end

local function page_of(path, store, parts)
  local made = pages[path](store, parts.values, parts.all)
  if not made then return told(404, "Not in this store", "The store has no such study or trial.") end
  return 200, request.headers(page_type), html.page(made.title, made.path, made.body, made.live)
end

---Answers a request about the store at `path`. A store that cannot be read gives a page that says why
---and is refreshed.
---@param path string
---@param guard mr.serve.Guard
---@param asked { method: string, target: string, host: string, cookie: string }
---@return integer status
---@return string headers
---@return string body
function M.of(path, guard, asked)
  local status, sentence, headers = request.objection(guard, asked)
  if status == 303 then return status, request.headers(page_type, headers), "" end
  if status then return told(status, "Not answered", sentence, headers) end
  local parts = request.parts(asked.target)
  local file = files[parts.path]
  if file then return 200, request.headers(file[2]), core.stdlib_text(file[1]) end
  if not pages[parts.path] then return told(404, "No such page", "The address has no page here. Begin at /.") end
  local opened, store = check.attempt(stores.open, path, "read")
  if not opened then
    if store == "interrupted" then error(store, 0) end
    return told(503, "The store cannot be read", check.reason(store), nil, true)
  end
  local made, code, more, body = pcall(page_of, parts.path, store, parts)
  store:close()
  if made then return code, more, body end
  if code == "interrupted" then error(code, 0) end
  return told(500, "The page cannot be made", tostring(code), nil, true)
end

return M
