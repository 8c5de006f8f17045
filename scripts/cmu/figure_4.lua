-- Li & Wu, Figure 4: RankCNN on images: loss and pairwise accuracy by epoch. The images are
-- drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").curves(4, "RankCNN", false)
