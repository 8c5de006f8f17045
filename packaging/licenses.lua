-- Copies the licences of the libraries inside the packages into a folder: moonrank licenses.lua FOLDER. These are the
-- copyright files of their Debian packages, and the common licences that those name. A missing file is an error.
local libraries = dofile((arg[0]:match "^(.*/)" or "") .. "libraries.lua")
local folder = arg[1]

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
  assert(file:write(text))
end

for _, library in ipairs(libraries) do
  local text = read(("/usr/share/doc/%s/copyright"):format(library[2]))
  write(library[1] .. ".txt", text)
  for name in text:gmatch "/usr/share/common%-licenses/([%w.-]*%w)" do
    write(name .. ".txt", read("/usr/share/common-licenses/" .. name))
  end
end
