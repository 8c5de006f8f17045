-- Makes Figure 3 of Li, Urbano & Hanjalic (2021): is a loss better than others over all data sets and NSR? It shows
-- marginal means of standardised scores.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").marginal_means("3")
