-- Figure 3 of Li & Wu: the weights of four linear models of pixels, shown as images. The models are pairwise and
-- pointwise logistic regression, lasso and ridge. Without a folder of photographs (--images) the script uses made-up
-- faces.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").coefficients()
