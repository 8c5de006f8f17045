-- Li, Urbano & Hanjalic (2021), Figure 2: which loss is how often the best by which metric?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").frequencies("2")
