-- Li & Wu, Table 2: which of two faces is older? Regression, ranking and classification of images, with and without
-- convolutions. The images are drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(2)
