-- Copies the licences of the libraries inside the packages into a folder: moonrank licenses.lua FOLDER. These are the
-- copyright files of their Debian packages, and the common licences that those name. A missing file is an error.
--
-- moonrank licenses.lua FOLDER PACKAGE copies those of the libraries that are compiled into the Debian package PACKAGE,
-- which uses all other libraries from their own packages. It also writes FOLDER/../copyright in Debian's
-- machine-readable format (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/).
local libraries = dofile((arg[0]:match "^(.*/)" or "") .. "libraries.lua")
local folder, package_name = arg[1], arg[2]

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
  assert(file:write(text))
end

local lines = {}
for _, library in ipairs(libraries) do
  if library.in_deb or not package_name then
    local text = read(("/usr/share/doc/%s/copyright"):format(library[2]))
    write(library[1] .. ".txt", text)
    lines[#lines + 1] = (" %s, from Debian's %s: %s\n"):format(library[1], library[2], library[3])
    for name in text:gmatch "/usr/share/common%-licenses/([%w.-]*%w)" do
      write(name .. ".txt", read("/usr/share/common-licenses/" .. name))
    end
  end
end
if not package_name then return end
if package_name:find "cuda" then lines[#lines + 1] = " cudart_static, from NVIDIA's CUDA Toolkit: NVIDIA's EULA\n" end
write("../copyright", ([[
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Moonrank
Comment:
 Code of these libraries is compiled into this package. Their holders of copyright and their licences are in the folder
 /usr/share/doc/%s/licenses.
 .
%s
Files: *
Copyright: 2026 the authors of Moonrank
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.
]]):format(package_name, table.concat(lines, " .\n")))
