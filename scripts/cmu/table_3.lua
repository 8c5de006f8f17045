-- Table 3 of Li & Wu: which of two faces is older, from features computed beforehand? Features are columns of a table
-- (the paper uses VGG16's), or the output of an untrained convolutional network with random weights.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(3)
