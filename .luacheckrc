-- Lua style of stdlib, scripts and specs: no globals, no unused names, lines up to 120 columns,
-- except lines that end inside a long string (up to 400), since a break there would change the string.
std = "lua54"
max_line_length = 120
max_code_line_length = 120
max_comment_line_length = 120
max_string_line_length = 400
exclude_files = { "build", "stdlib/meta" }
