-- The file in which tables of distributions are kept from one run to the next.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local cache_file = {}

-- Written when the state closes, if tables came to those that were read.
local function save_cache()
  if not cache_file.path or core.count_tables() == cache_file.tables then return end
  local ok, message = pcall(core.save_tables, cache_file.path)
  if not ok then check.warn("mr.bounds.cache: " .. core.error_text(message)) end
  cache_file.tables = core.count_tables()
end
cache_file.at_the_end = setmetatable({}, { __gc = save_cache })

---Reads the file and writes it at the end: mr.bounds.cache.
---@param path string|false
---@return integer  how many tables were read
function M.keep(path)
  if path == false then
    cache_file.path = nil
    return 0
  end
  if type(path) ~= "string" then check.fail("mr.bounds.cache: path is a %s, expected a string or false", type(path)) end
  core.check_file(path)
  if not core.file_exists(path) then
    core.make_folder(path)
    cache_file.path = path
    return 0
  end
  local count, problem = core.load_tables(path)
  cache_file.path = path
  if problem then check.warn("mr.bounds.cache: " .. problem .. "; its tables are made anew") end
  cache_file.tables = not problem and core.count_tables() or nil
  return count
end

return M
