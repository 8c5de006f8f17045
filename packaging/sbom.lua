-- Prints a software bill of materials, the list of libraries inside the packages, in the format CycloneDX 1.5:
-- moonrank sbom.lua VERSION BUILD
local version, build = arg[1], arg[2]

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return (pipe:read "a":gsub("%s+$", ""))
end

-- Returns the entry of a library that was taken from a Debian package.
local function component(library, package, license)
  local found = output_of(("dpkg-query -W -f='${Version}' %s 2>/dev/null"):format(package))
  return ('    {"type": "library", "name": "%s", "version": "%s", "licenses": [{"expression": "%s"}], '
    .. '"purl": "pkg:deb/debian/%s@%s"}'):format(library, found, license, package, found)
end

local packages = dofile((arg[0]:match "^(.*/)" or "") .. "libraries.lua")
local lines = {}
for i, each in ipairs(packages) do lines[i] = component(table.unpack(each)) end
if output_of(("grep -c CUDA_cublas_LIBRARY '%s/CMakeCache.txt'"):format(build)) ~= "0" then
  local cuda = output_of("nvcc --version | sed -nE 's/.*release ([0-9.]+).*/\\1/p'")
  lines[#lines + 1] = ('    {"type": "library", "name": "cudart_static", "version": "%s", '
    .. '"licenses": [{"license": {"name": "NVIDIA CUDA Toolkit EULA"}}]}'):format(cuda)
end
print(([[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {"component": {"type": "application", "name": "moonrank", "version": "%s",
    "licenses": [{"license": {"id": "Apache-2.0"}}]}},
  "components": [
%s
  ]
}]]):format(version, table.concat(lines, ",\n")))
