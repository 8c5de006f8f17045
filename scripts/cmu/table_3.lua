-- Li & Wu, Table 3: which of two faces is older, as in Table 2, by features that were computed for each image before?
-- Features are columns of a table (the paper takes VGG16's), or the output of a convolutional network with random
-- weights, which is not trained.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(3)
