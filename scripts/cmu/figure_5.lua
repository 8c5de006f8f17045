-- Li & Wu, Figure 5: RankNet on features that were computed before: loss and pairwise accuracy by epoch. The images are
-- drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").curves(5, "RankNet", true)
