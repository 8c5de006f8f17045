-- Li & Wu, Table 3: the same as Table 2 on features that were computed for each image before: those of a table (the paper's are of VGG16), or of a
-- convolutional network with random weights, which nobody has trained.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(3)
