-- Makes Figure 2 of Li, Urbano & Hanjalic (2021): how often is each loss the best, by each metric?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").frequencies("2")
