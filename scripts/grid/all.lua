-- The scripts of the grid, for a report (../sections.lua): path, title, and the options of the command line that a
-- run of it has.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

return { { path = here .. "grid.lua", title = "Every loss under every bound", words = {} } }
