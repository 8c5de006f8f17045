-- The script of the grid experiment, for a report (../sections.lua): its path, its title, and the command line options
-- with which the report runs it.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

return { { path = here .. "grid.lua", title = "Every loss under every bound", words = {} } }
