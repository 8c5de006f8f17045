-- Makes Figure 1 of Li, Urbano & Hanjalic (2021): how well do the losses of LambdaRank and the listwise losses
-- rank, by each metric and at each NSR (sampled negatives per relevant item)?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").levels("1")
