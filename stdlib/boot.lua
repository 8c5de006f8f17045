-- This file runs once in every Lua state, before any script. It makes `require` find the standard library inside the
-- program, and lets `load` take source text only. A folder in MOONRANK_STDLIB takes precedence over the embedded files.
-- `hosted` is true if the state belongs to another program, such as Debian's lua5.4. That program keeps its own `load`
-- and its own searchers of modules.
local core, hosted = ...
core.hosted = hosted

local folder = os.getenv("MOONRANK_STDLIB")

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- Returns the source text of a standard library file such as "stdlib/moonrank/init.lua", or nil if there is no such
-- file.
function core.stdlib_text(name)
  return folder and read(folder .. name:sub(#"stdlib" + 1)) or core.embedded(name)
end

local function search_stdlib(module)
  if module ~= "moonrank" and module:sub(1, 9) ~= "moonrank." then return nil end
  local base = "stdlib/" .. module:gsub("%.", "/")
  for _, name in ipairs{ base .. ".lua", base .. "/init.lua" } do
    local text = core.stdlib_text(name)
    if text then
      local chunk, message = load(text, "@" .. name, "t")
      if not chunk then error(message, 0) end
      return chunk, name
    end
  end
  return "\n\tno file '" .. base .. ".lua' in the standard library"
end

-- Keeps Lua's own load and loadfile. Scripts get versions that refuse precompiled chunks, which can crash the
-- interpreter.
local load_any, loadfile_any = load, loadfile

-- Three tables from which a study stores the code of its trials (training runs). `sources` has the text of every loaded
-- file by path, `modules` the path of every module by name, and `loads` the files that were loaded since the code that
-- watches loads last emptied it.
core.sources, core.modules, core.loads = {}, {}, {}

-- Loads a Lua file like loadfile, and records the file's text for studies.
local function load_file(path, ...)
  local text = type(path) == "string" and read(path)
  if not text or hosted and text:byte() == 27 then return loadfile_any(path, not hosted and "t" or nil, ...) end
  core.sources[path], core.loads[path] = text, "file " .. path
  return load_any((text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\n]*", "")), "@" .. path, "t", ...)
end

-- Records the text of the main script. The program itself loads that script, so `load_file` does not see it.
function core.remember_source(path) core.sources[path] = core.sources[path] or read(path) end

local function search_path(module)
  local path, message = package.searchpath(module, package.path)
  if not path then return message end
  local chunk, problem = load_file(path)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(module, path, problem), 0) end
  core.modules[module], core.loads[path] = path, "module " .. module
  return chunk, path
end

-- Test frameworks empty package.loaded, and the library can be loaded again then.
package.preload["moonrank.core"] = function() return core end

if hosted then
  table.insert(package.searchers, 2, search_stdlib)
  table.insert(package.searchers, 3, search_path)
else
  package.searchers = { package.searchers[1], search_stdlib, search_path, package.searchers[3] }
end

-- Runs the library's first file and returns the table `mr`, like the first `require "moonrank"`.
function core.load_library()
  package.loaded.moonrank = search_stdlib "moonrank" "moonrank"
  return package.loaded.moonrank
end

-- Keeps the locale "C". In another locale Lua could write 0,5 into files and fail to read "0.5". It could also take
-- bytes of UTF-8 text for control characters and sort strings in another order.
local set_locale = os.setlocale
local harmless = { monetary = true, time = true }
rawset(os, "setlocale", function(locale, category)
  if locale == nil or locale == "C" or locale == "POSIX" or harmless[category] then
    return set_locale(locale, category)
  end
  error(("os.setlocale: the locale is '%s', expected 'C', because numbers and texts in files must not depend on it. "
    .. "The categories 'time' and 'monetary' may have another locale"):format(core.safe_text(tostring(locale))), 2)
end)

if not hosted then
  local plain_print = print
  -- Writes tables without a class like the prompt, and other values like Lua's own `print`.
  function _G.print(...)
    for i = 1, select("#", ...) do
      if type((select(i, ...))) == "table" then return plain_print(require("moonrank.prompt.show").printed(...)) end
    end
    plain_print(...)
  end
  function _G.load(chunk, name, _, ...) return load_any(chunk, name, "t", ...) end
end
function _G.loadfile(path, _, ...) return load_file(path, ...) end
function _G.dofile(path)
  local chunk, message = load_file(path)
  if not chunk then error(message, 0) end
  return chunk()
end
