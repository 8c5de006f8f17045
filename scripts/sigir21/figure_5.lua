-- Li, Urbano & Hanjalic (2021), Figure 5: who gains by nRBP over AP and nDCG, users with few or with many positives?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").gains("5")
