-- The libraries inside the packages: name, the Debian package that they are taken from, and the licence of their
-- library as an SPDX expression. The copyright file of the Debian package has all its licences, those of its own tools
-- and scripts among them. `in_deb` marks those that are compiled into the .deb, too.
return {
  { "lua", "liblua5.4-dev", "MIT" },
  { "sqlite3", "libsqlite3-dev", "blessing" },
  { "nettle", "nettle-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later" },
  { "xxhash", "libxxhash-dev", "BSD-2-Clause" },
  { "zlib", "zlib1g-dev", "Zlib" },
  { "libedit", "libedit-dev", "BSD-3-Clause" },
  { "ncurses", "libncurses-dev", "X11-distribute-modifications-variant AND BSD-3-Clause" },
  { "libbsd", "libbsd-dev", "BSD-3-Clause AND BSD-2-Clause AND ISC AND MIT AND Beerware" },
  { "libmd", "libmd-dev", "BSD-3-Clause AND BSD-2-Clause AND ISC AND Beerware" },
  { "libstdc++", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", in_deb = true },
  { "eigen", "libeigen3-dev", "MPL-2.0", in_deb = true },
  { "nlohmann-json", "nlohmann-json3-dev", "MIT", in_deb = true },
  { "boost-math", "libboost1.74-dev", "BSL-1.0", in_deb = true },
  { "fast_float", "libfast-float-dev", "Apache-2.0 OR MIT", in_deb = true },
}
