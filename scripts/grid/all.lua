-- The script that reproduces the grid experiment (every loss under every bound), for a report of docs/report:
-- its path, its title, and the command line options with which the report runs it.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

return { { path = here .. "grid.lua", title = "Every loss under every bound", words = {} } }
