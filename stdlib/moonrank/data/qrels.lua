-- Writes the grades of lists as TREC judgments (qrels): lines "query 0 document grade".
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local scored = require "moonrank.data.scored"

local M = {}

local longest_line <const> = 2 ^ 16 | 0  -- of an existing file, at most this many bytes are read to find its first line

local qrels_options = declare("mr.data.QrelsOptions", {
  { "escape", "boolean", default = false, help = "whether names with blanks are written in an escaped form" },
})

-- Returns a name as a word for a file of judgments, where blanks separate words. A name that has blanks or begins with
-- "%%" is escaped if `escape` is true, else it is an error. An escaped name is "%%" followed by the name with blanks
-- and % as hexadecimal bytes (runtime/data/trec.cpp).
local function word_of(where, what, name, escape)
  check.expect(name ~= "", where, "the name of a " .. what, name, "a text that is not empty")
  if not name:find "[ \t\r\n\f\v]" and name:sub(1, 2) ~= "%%" then return name end
  check.expect(escape, where, "the name of a " .. what, name,
    "a text without blanks that does not begin with two percent signs, or escape = true")
  return "%%" .. name:gsub("[ \t\r\n\f\v%%]", function(c) return ("%%%02X"):format(c:byte()) end)
end

-- Returns true if the file at `path` is missing or empty, or if its first line is a judgment.
local function may_replace(path)
  if not core.is_file(path) then return not core.file_exists(path) end
  local file <close> = assert(io.open(path, "rb"))
  local start = file:read(longest_line)
  return not start or start:find "^%s*%S+%s+%S+%s+%S+%s+-?%d+[ \t\r]*\n" ~= nil
end

---Writes lists as TREC judgments: lines "query 0 document grade". An existing file is replaced if it begins with a
---judgment or is empty; any other file is an error. Grades that are not integers, and a document that a list has twice,
---are errors. Names with blanks, and names that begin with "%%", are errors without the option `escape`.
---@param where string  name of the calling function, for errors
---@param set mr.Dataset|mr.Lists
---@param path string
---@param options? mr.data.QrelsOptions
function M.write(where, set, path, options)
  local o = qrels_options:read(where, options)
  check.path(where, path)
  core.check_file(path)
  check.expect(may_replace(path), where, "path", path,
    "a new file or a file of judgments, because a file of another kind exists there")
  local lists, row, lines = scored.named(set), 0, {}
  local grades, ids, documents = lists.relevance:totable(), lists.ids, lists.documents
  for list, size in ipairs(core.integers(lists.sizes)) do
    local query = word_of(where, "list", ids[list], o.escape)
    check.distinct(where, ("list '%s'"):format(core.safe_text(ids[list])),
      table.move(documents, row + 1, row + size, 1, {}))
    for _ = 1, size do
      row = row + 1
      local name, grade = documents[row], math.tointeger(grades[row])
      if not grade then check.expect(false, where, ("grade of row %d"):format(row), grades[row], "an integer") end
      lines[row] = ("%s 0 %s %d\n"):format(query, word_of(where, "row", name, o.escape), grade)
    end
  end
  core.make_folder(path)
  core.write_file(path, table.concat(lines))
end

return M
