-- Figure 4 of Li & Wu: loss and pairwise accuracy of RankCNN on images by epoch. Without a folder of photographs
-- (--images) the script uses made-up faces.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").curves(4, "RankCNN", false)
