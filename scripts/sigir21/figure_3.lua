-- Li, Urbano & Hanjalic (2021), Figure 3: is a loss better than others over all data sets and NSR? Marginal means of
-- standardised scores.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").marginal_means("3")
