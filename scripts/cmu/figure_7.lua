-- Figure 7 of Li & Wu: pairs of images that Rank LR (pairwise logistic regression on features) orders wrong. Without a
-- folder of photographs (--images) the script uses made-up faces.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").examples(7, false)
