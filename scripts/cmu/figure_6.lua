-- Li & Wu, Figure 6: pairs that Rank LR of features orders right. The images are
-- drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").examples(6, true)
