-- The file in which tables of distributions are kept from one run to the next.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local cache_file = {}

-- Runs when the state closes: writes the file if tables were added or made anew.
local function save_cache()
  if not cache_file.path then return end
  local rejected = core.rejected_tables() - cache_file.rejected
  if rejected > 0 then
    check.warn(("mr.bounds.cache: %d of the tables in %s do not have the mean, variance and range of their distributions. "
      .. "They were made anew."):format(rejected, core.safe_text(cache_file.path)))
  end
  if rejected == 0 and core.count_tables() == cache_file.tables then return end
  local ok, message = pcall(core.save_tables, cache_file.path)
  if not ok then check.warn("mr.bounds.cache: " .. core.error_text(message)) end
  cache_file.tables, cache_file.rejected = core.count_tables(), core.rejected_tables()
end
cache_file.at_the_end = setmetatable({}, { __gc = save_cache })

---Reads the file now and writes it when the program ends, for mr.bounds.cache.
---@param path string|false
---@return integer  how many tables were read
function M.keep(path)
  if path == false then
    cache_file.path = nil
    return 0
  end
  if type(path) ~= "string" then check.fail("mr.bounds.cache: path is a %s, expected a string or false", type(path)) end
  core.check_file(path)
  cache_file.rejected = core.rejected_tables()
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
