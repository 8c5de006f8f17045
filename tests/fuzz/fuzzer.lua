-- The program of the fuzzers, for the scripts here.
local M = {}

M.here = arg[0]:match "^(.*/)" or "./"

function M.quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

---What a shell command prints, and whether it succeeded.
---@param command string
---@return string
---@return boolean
---@return number  its processor's seconds
function M.run(command)
  local pipe <close> = assert(io.popen("(" .. command .. ") 2>&1; echo \"status $?\"; times"))
  local text = pipe:read "a"
  local said, status, times = text:match "^(.*)status (%d+)%s*(.*)$"
  local user_minutes, user, system_minutes, system = times:match "([%d.]+)m([%d.]+)s ([%d.]+)m([%d.]+)s%s*$"
  return said, status == "0", 60 * (user_minutes + system_minutes) + user + system
end

---Raises where the fuzzers are not built.
---@param program string
function M.need(program)
  if select(2, M.run(("test -f %s -a -x %s"):format(M.quoted(program), M.quoted(program)))) then return end
  error(("%s: there is no such program; `cmake --preset fuzz && cmake --build --preset fuzz` builds it"):format(program), 0)
end

---Runs a parser's fuzzer on folders of inputs; its seeds are written into one of them, and its corpus.
---@param o { program: string, target: string, words: string, folders: string[], seeds: string, corpus: string?, variables: string? }
---@return string
---@return boolean
---@return number  the processor's seconds
function M.fuzz(o)
  local folders = {}
  for i, folder in ipairs(o.folders) do folders[i] = M.quoted(folder) end
  return M.run(("MOONRANK_FUZZ=%s MOONRANK_FUZZ_SEEDS=%s %s LLVM_PROFILE_FILE=/dev/null %s %s %s %s"):format(o.target, M.quoted(o.seeds),
    o.corpus and "MOONRANK_FUZZ_CORPUS=" .. M.quoted(o.corpus) or "", o.variables or "", M.quoted(o.program), o.words,
    table.concat(folders, " ")))
end

---Writes the files of a folder into one, as corpora are kept, and returns how many there were.
---@param folder string
---@param path string
---@return integer
function M.pack(folder, path)
  local inputs = {}
  for name in M.run("find " .. M.quoted(folder) .. " -type f"):gmatch "[^\n]+" do
    local file <close> = assert(io.open(name, "rb"))
    inputs[#inputs + 1] = string.pack("<s4", file:read "a")
  end
  table.sort(inputs)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(table.concat(inputs)))
  return #inputs
end

---The targets of these names, or all of parsers.lua.
---@param only string[]?
---@return string[]
function M.targets(only)
  local found, known = {}, {}
  for _, parser in ipairs(dofile(M.here .. "parsers.lua")) do
    for _, target in ipairs(parser.targets) do
      if not known[target] then found[#found + 1] = target end
      known[target] = true
    end
  end
  for _, name in ipairs(only or {}) do
    if not known[name] then error(("no parser '%s'; there are: %s"):format(name, table.concat(found, ", ")), 0) end
  end
  return only or found
end

---The parsers of parsers.lua, or those whose first target is named.
---@param only string[]?
---@return table[]
function M.parsers(only)
  local found, wanted = {}, {}
  for _, name in ipairs(M.targets(only)) do wanted[name] = true end
  for _, parser in ipairs(dofile(M.here .. "parsers.lua")) do
    if wanted[parser.targets[1]] then found[#found + 1] = parser end
  end
  return found
end

---The files in a folder.
---@param folder string
---@return integer
---@return integer  bytes
function M.size(folder)
  local said = M.run(("find %s -type f -printf '%%s\\n' 2>/dev/null"):format(M.quoted(folder)))
  local count, bytes = 0, 0
  for size in said:gmatch "%d+" do count, bytes = count + 1, bytes + tonumber(size) end
  return count, bytes
end

return M
