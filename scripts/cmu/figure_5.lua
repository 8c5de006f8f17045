-- Figure 5 of Li & Wu: loss and pairwise accuracy by epoch of RankNet, trained on precomputed features of images.
-- Without a folder of photographs (--images) the script uses made-up faces.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").curves(5, "RankNet", true)
