-- Where does the NaN come from?
-- `mr.fit` stops at the first loss that is NaN and says where it occurred. For tensor operations of your own,
-- `mr.detect_anomaly` checks every operation and names the first one that made a NaN.
local mr = require "moonrank"
local ok, message = pcall(mr.detect_anomaly, function()
  local share = mr.tensor{ 0, 3 } / mr.tensor{ 0, 4 }
  return share:log()
end)
print(ok, message:match "'%w+' made NaN at entry %d+ of %d+")
--> false	'div' made NaN at entry 1 of 2
