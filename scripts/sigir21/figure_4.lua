-- Li, Urbano & Hanjalic (2021), Figure 4: is a loss better than others on each data set? Marginal means of standardised
-- scores.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").marginal_means_by_data("4")
