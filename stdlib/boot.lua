-- Runs once in every state, before any script: makes `require` find the standard library inside the program and load text only.
-- A folder in MOONRANK_STDLIB takes precedence over the embedded files.
local core = ...

local folder = os.getenv("MOONRANK_STDLIB")

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- The text of a standard library file such as "stdlib/moonrank/init.lua", or nil.
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

-- Text only: precompiled chunks can crash the interpreter.
local load_any, loadfile_any = load, loadfile

-- For studies, which record the code that their trials use: the text of every loaded file by its path, the path of every module by its name, and
-- the files that were loaded since `core.loads` was last replaced.
core.sources, core.modules, core.loads = {}, {}, {}

-- Like loadfile, and records the text.
local function load_file(path, ...)
  local text = type(path) == "string" and read(path)
  if not text then return loadfile_any(path, "t", ...) end
  core.sources[path], core.loads[path] = text, "file " .. path
  return load_any((text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\n]*", "")), "@" .. path, "t", ...)
end

-- Records the text of a file that is not loaded by Lua, which is the script.
function core.remember_source(path) core.sources[path] = core.sources[path] or read(path) end

local function search_path(module)
  local path, message = package.searchpath(module, package.path)
  if not path then return message end
  local chunk, problem = load_file(path)
  if not chunk then error(("error loading module '%s' from file '%s':\n\t%s"):format(module, path, problem), 0) end
  core.modules[module], core.loads[path] = path, "module " .. module
  return chunk, path
end

package.searchers = { package.searchers[1], search_stdlib, search_path, package.searchers[3] }

-- The locale stays "C". In another one Lua would write 0,5 into files, read "0.5" as no number, and take parts of UTF-8 characters for
-- control characters; the order of texts would change as well.
local set_locale = os.setlocale
local harmless = { monetary = true, time = true }
rawset(os, "setlocale", function(locale, category)
  if locale == nil or locale == "C" or locale == "POSIX" or harmless[category] then return set_locale(locale, category) end
  error(("os.setlocale: the locale is '%s', expected 'C', because numbers and texts in files must not depend on it. "
    .. "The categories 'time' and 'monetary' may have another locale"):format(core.safe_text(tostring(locale))), 2)
end)

function _G.load(chunk, name, _, ...) return load_any(chunk, name, "t", ...) end
function _G.loadfile(path, _, ...) return load_file(path, ...) end
function _G.dofile(path)
  local chunk, message = load_file(path)
  if not chunk then error(message, 0) end
  return chunk()
end
