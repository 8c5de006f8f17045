-- The scripts of the grid, for a report of several documents.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

return {
  { path = here .. "grid.lua", title = "Every loss under every bound" },
}
