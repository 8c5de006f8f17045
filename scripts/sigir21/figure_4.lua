-- Makes Figure 4 of Li, Urbano & Hanjalic (2021): is a loss better than others on each data set? It shows marginal
-- means of standardised scores.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").marginal_means_by_data("4")
