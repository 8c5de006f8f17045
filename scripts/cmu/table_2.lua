-- Table 2 of Li & Wu: which of two faces is older? Regression, ranking and classification of pixels, with and without
-- convolutions. Without a folder of photographs (--images) the script uses made-up faces.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(2)
