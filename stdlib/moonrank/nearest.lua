-- The known name nearest to a mistyped one, for error messages.
local M = {}

-- Edit distance with swaps of neighbours counted as one edit (Damerau 1964, restricted form).
local function distance(a, b)
  local before, last, row = {}, {}, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    row = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
    before, last = last, row
  end
  return last[#b]
end

---The name nearest to `word`, or nil where none is near (more than a third of its letters, but at least two, differ).
---A name that begins with `word`, or the other way round, is near as well. Of equally near ones the first by alphabet.
---@param word string
---@param names string[]
---@return string?
---Example: `require "moonrank.nearest".to("epohcs", {"epochs", "seed"})   --> epochs`
function M.to(word, names)
  local best, best_distance
  local limit = math.max(2, #word // 3)
  for _, name in ipairs(names) do
    local d = distance(word:lower(), name:lower())
    local prefix = #word > 1 and #name > 1 and (name:sub(1, #word) == word or word:sub(1, #name) == name)
    if prefix then d = math.min(d, limit) end
    if d <= limit and d < math.max(#word, #name) and (not best or d < best_distance or (d == best_distance and name < best)) then
      best, best_distance = name, d
    end
  end
  return best
end

---The words that an error adds: `; did you mean 'epochs'?`, or nothing.
---@param word string
---@param names string[]
---@param prefix? string   written before the name (`--` for options of a script)
---@return string
---Example: `require "moonrank.nearest".hint("sed", {"epochs", "seed"})   --> ; did you mean 'seed'?`
function M.hint(word, names, prefix)
  local name = M.to(word, names)
  return name and ("; did you mean '%s%s'?"):format(prefix or "", name) or ""
end

return M
