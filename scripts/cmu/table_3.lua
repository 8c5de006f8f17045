-- Table 3 of Li & Wu, Application of Neural Networks in Ranking: which of two faces is older, from features computed
-- beforehand? Features are columns of a table (the paper uses VGG16's), or the output of an untrained convolutional
-- network with random weights. Data, models and protocol are those of table_2.lua, without convolutions.
return dofile((arg[0]:match("^(.*/)") or "./") .. "tables.lua").make(3)
