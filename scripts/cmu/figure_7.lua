-- Li & Wu, Figure 7: pairs that Rank LR of features orders wrong. The images are
-- drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").examples(7, false)
