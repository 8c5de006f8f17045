-- Li, Urbano & Hanjalic (2021), Figure 4: and on each data set?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").marginal_means_by_data("4")
