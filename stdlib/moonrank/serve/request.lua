-- Decides which requests `moonrank serve` answers, parses a request's target, and makes the headers of every response.
local core = require "moonrank.core"

local M = {}

-- This policy lets the browser load scripts, styles and data from this server only. Scripts inside a page do not run.
local policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
  .. "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

local always = {
  "Content-Security-Policy: " .. policy, "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
  "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin", "Cache-Control: no-store",
}

---Returns the headers of a response as text.
---@param kind string     media type
---@param more? string[]  further lines
function M.headers(kind, more)
  local lines = { "Content-Type: " .. kind, table.unpack(always) }
  for _, line in ipairs(more or {}) do lines[#lines + 1] = line end
  return table.concat(lines, "\r\n") .. "\r\n"
end

local function decoded(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

---Returns the parts of a target such as "/trial?study=a&number=3": its path, and the values of its query by name.
---`values` has the last value of each name, and `all` has every value.
---@param target string
---@return { path: string, values: table<string, string>, all: table<string, string[]> }
---Example: `require("moonrank.serve.request").parts("/a?b=c+d").path   --> /a`
---Example: `require("moonrank.serve.request").parts("/a?b=c+d%21").values.b   --> c d!`
function M.parts(target)
  local path, query = target:match "^([^?#]*)%??([^#]*)"
  local out = { path = decoded(path), values = {}, all = {} }
  for part in query:gmatch "[^&]+" do
    local name, value = part:match "^([^=]*)=?(.*)$"
    name, value = decoded(name), decoded(value)
    out.values[name] = value
    out.all[name] = out.all[name] or {}
    table.insert(out.all[name], value)
  end
  return out
end

---Returns the target of a link to the page `path`, with a query that has the values in the order of `pairs_of`.
---@param pairs_of { [1]: string, [2]: any }[]  names and values; a nil or empty value is left out
---Example: `require("moonrank.serve.request").target("/a", {{"b", "c d&"}})   --> /a?b=c%20d%26`
function M.target(path, pairs_of)
  local parts = {}
  for _, each in ipairs(pairs_of) do
    if each[2] ~= nil and each[2] ~= "" then
      parts[#parts + 1] = each[1] .. "=" .. tostring(each[2]):gsub("[^%w%-_.~@]", function(c)
        return ("%%%02X"):format(c:byte())
      end)
    end
  end
  return path .. (#parts > 0 and "?" .. table.concat(parts, "&") or "")
end

local loopback = { ["127.0.0.1"] = true, ["::1"] = true }

---Returns true for 127.0.0.1 and ::1, which only this machine can reach, and false for any other address.
---@param address string
function M.is_loopback(address) return loopback[address] == true end

---Returns a random token of 128 bits, in hexadecimal, from the system's random numbers.
function M.token()
  local file <close> = assert(io.open("/dev/urandom", "rb"))
  return (assert(file:read(16)):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- Checks a token. Digests are compared, so that the duration of the comparison reveals nothing about the token.
local function is_token(guard, text) return text ~= nil and core.sha256(text) == core.sha256(guard.token) end

local function cookie_name(guard) return "moonrank_" .. guard.port end

local function cookie_of(guard, cookies)
  for name, value in cookies:gmatch "([^=; ]+)=([^;]*)" do
    if name == cookie_name(guard) then return value end
  end
end

---@class mr.serve.Guard
---@field port integer
---@field token string|false  required by a server that other machines can reach

---Returns why a request is not answered: a status, a sentence, and further headers. Returns nil if it is answered. If
---the server requires a token, a request with the token in its query gets the status 303 and a header that sets a
---cookie.
---@param request { method: string, target: string, host: string, cookie: string }
---@return integer? status
---@return string? sentence
---@return string[]? headers
function M.objection(guard, request)
  if request.method ~= "GET" and request.method ~= "HEAD" then
    return 405, "This server only shows pages: the method is " .. request.method .. ", expected GET.",
      { "Allow: GET, HEAD" }
  end
  if not guard.token then
    -- The Host header protects against DNS rebinding: a page of another site, whose host name was made to resolve to
    -- this machine, sends the site's own host name as Host, and its request is refused.
    local name, port = request.host:lower():match "^(.-):?(%d*)$"
    if request.host:find "^%[" then name, port = request.host:match "^%[([^%]]*)%]:?(%d*)$" end
    local known = name == "localhost" or loopback[name]
    if known and (tonumber(port) or 80) == guard.port then return nil end
    return 421, ("The Host of the request is not this server. Open http://localhost:%d/."):format(guard.port)
  end
  local asked = M.parts(request.target)
  if is_token(guard, asked.values.token) then
    local cookie = ("Set-Cookie: %s=%s; HttpOnly; SameSite=Strict; Path=/"):format(cookie_name(guard), guard.token)
    return 303, "", { cookie, "Location: /" }
  end
  if is_token(guard, cookie_of(guard, request.cookie)) then return nil end
  return 403, "The token is missing or wrong. Open the address that `moonrank serve` printed."
end

return M
