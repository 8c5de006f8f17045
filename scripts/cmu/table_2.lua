-- Table 2 of Li & Wu, Application of Neural Networks in Ranking: which of two faces is older, by regression, ranking or
-- classification of pixels, with and without convolutions? Without a folder of photographs (--images) the script uses
-- made-up faces.

-- Data: images with ages, divided into parts for training, validation and test before pairs are drawn (faces.lua).
-- Models: networks, convolutional networks, linear models and trees (systems.lua). Protocol: validation pairs choose
-- rate, penalty or depth (grids.lua), and the epoch (faces_protocol.lua). Result: accuracy on test pairs, beside the
-- printed numbers (tables.lua). Table 3 and Figures 3 to 7 share these files.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(2)
