-- Li & Wu, Figure 3: how do the weights of linear models look? Both logistic regressions, lasso and ridge of the
-- pixels, as images. The images are drawn where no folder of photographs is named.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").coefficients()
