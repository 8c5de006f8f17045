-- Checks that a printed text contains every given key word: the name and the value, not the sentence around them.
local raises = require "moonrank.test".raises

return function(text, ...)
  return raises(function() error(tostring(text), 0) end, ...)
end
