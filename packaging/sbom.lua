-- Prints a software bill of materials, the list of libraries inside the packages, in the format CycloneDX 1.5:
-- moonrank sbom.lua VERSION BUILD
local version, build = arg[1], arg[2]

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return (pipe:read "a":gsub("%s+$", ""))
end

-- Returns the entry of a library that was linked from the static library of a Debian package.
local function component(library, package)
  local found = output_of(("dpkg-query -W -f='${Version}' %s 2>/dev/null"):format(package))
  return ('    {"type": "library", "name": "%s", "version": "%s", "purl": "pkg:deb/debian/%s@%s"}'):format(library,
    found, package, found)
end

local packages = { { "lua", "liblua5.4-dev" }, { "sqlite3", "libsqlite3-dev" }, { "nettle", "nettle-dev" },
  { "xxhash", "libxxhash-dev" }, { "zlib", "zlib1g-dev" }, { "libedit", "libedit-dev" },
  { "ncurses", "libncurses-dev" }, { "libbsd", "libbsd-dev" },
  { "libmd", "libmd-dev" }, { "libstdc++", "libstdc++-12-dev" },
  { "eigen", "libeigen3-dev" }, { "nlohmann-json", "nlohmann-json3-dev" }, { "boost-math", "libboost-math-dev" },
  { "fast_float", "libfast-float-dev" } }
local lines = {}
for i, each in ipairs(packages) do lines[i] = component(table.unpack(each)) end
if output_of(("grep -c CUDA_cublas_LIBRARY '%s/CMakeCache.txt'"):format(build)) ~= "0" then
  local cuda = output_of("nvcc --version | sed -nE 's/.*release ([0-9.]+).*/\\1/p'")
  lines[#lines + 1] = ('    {"type": "library", "name": "cudart_static", "version": "%s"}'):format(cuda)
end
print(([[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {"component": {"type": "application", "name": "moonrank", "version": "%s"}},
  "components": [
%s
  ]
}]]):format(version, table.concat(lines, ",\n")))
