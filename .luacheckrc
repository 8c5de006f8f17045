-- Lua style of stdlib, scripts and specs: no globals, no unused names, lines up to 140 columns.
std = "lua54"
max_line_length = 140
max_comment_line_length = 260
exclude_files = { "build", "stdlib/meta" }
