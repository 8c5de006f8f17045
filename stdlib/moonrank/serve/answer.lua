-- Answers requests to `moonrank serve` with a status, headers and a body. It opens no socket, so tests can call it.
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

-- Returns the response that shows a page with a title and one sentence.
local function told(status, title, sentence, headers, live)
  local body = ('<h1>%s</h1><p class="note">%s</p>'):format(html.text(title), html.text(sentence))
  return status, request.headers(page_type, headers), html.page(title, { { title } }, body, live or false)
end

local function page_of(path, store, parts, state)
  local made = pages[path](store, parts.values, parts.all)
  if not made then return told(404, "Not in this store", "The store has no such study or trial.") end
  return 200, request.headers(page_type), html.page(made.title, made.path, made.body, made.live, state)
end

---The memory of a server between requests, for its store.
---@class mr.serve.Memory
---@field state string       of the store's files, as core.store_stamp names it
---@field trials table       what moonrank.serve.read keeps while the state is the same
---@field is_checked boolean whether the rows were found intact

-- Opens the store for a request, and updates what the server remembers about the store between requests (`memory`). The
-- check for damaged rows reads every row, so a store that passed it is checked again only if a page cannot be made.
local function opened(path, memory)
  local state = core.store_stamp(core.followed(path))
  if state == "" or state ~= memory.state then memory.trials = {} end
  memory.state = state
  local is_checked = memory.is_checked
  memory.is_checked = false
  local store = stores.open(path, "read", is_checked)
  memory.is_checked, store.kept = not store.leaves_out, memory.trials
  return store
end

---Returns a new object in which a server keeps what it knows of its store from one request to the next: rows that were
---read, and whether the store was checked. With a path, opens and checks the store now, and raises an error if it
---cannot be read. Without a path, nothing is opened.
function M.memory(path)
  local memory = { state = "", trials = {}, is_checked = false }
  if path then opened(path, memory):close() end
  return memory
end

-- Answers a request for a page about the store. If the page cannot be made, and the store was not checked for damaged
-- rows in this request, checks the store and makes the page again.
local function shown(path, memory, parts)
  local was_checked = memory.is_checked
  local is_open, store = check.attempt(opened, path, memory)
  if not is_open then
    return told(503, "The store cannot be read", check.reason(store), nil, true)
  end
  local state = memory.state ~= "" and core.sha256(memory.state):sub(1, 16) or ""
  if state ~= "" and parts.values.seen == state then
    store:close()
    return 204, request.headers(page_type), ""
  end
  local made, code, more, body = pcall(page_of, parts.path, store, parts, state)
  store:close()
  if made then return code, more, body end
  if code == "interrupted" then error(code, 0) end
  memory.is_checked, memory.trials = false, {}
  if was_checked then return shown(path, memory, parts) end
  return told(500, "The page cannot be made", check.reason(code), nil, true)
end

---Answers a request about the store at `path`. A store that cannot be read gives a page that says why and reloads
---itself.
---@param guard { port: integer, token?: string }  the server's port, and the token that requests must have; without a
---   token, only requests to this machine's own name, such as localhost, are answered
---@param asked { method: string, target: string, host: string, cookie: string }
---@param memory? mr.serve.Memory  of earlier requests
---@return integer status
---@return string headers
---@return string body
function M.of(path, guard, asked, memory)
  local status, sentence, headers = request.objection(guard, asked)
  if status == 303 then return status, request.headers(page_type, headers), "" end
  if status then return told(status, "Not answered", sentence, headers) end
  local parts = request.parts(asked.target)
  local file = files[parts.path]
  if file then return 200, request.headers(file[2]), core.stdlib_text(file[1]) end
  if not pages[parts.path] then return told(404, "No such page", "The address has no page here. Begin at /.") end
  return shown(path, memory or M.memory(), parts)
end

return M
