-- Lua style of stdlib, scripts and specs: no globals, no unused names, lines up to 120 columns.
std = "lua54"
max_line_length = 120
exclude_files = { "build", "stdlib/meta" }
-- Stores contain the text of these SQL statements, so a line break would change it.
files["stdlib/moonrank/sweep/schema.lua"] = { max_line_length = 200 }
