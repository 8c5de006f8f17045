-- How do I rank images?
-- `mr.data.images` reads a folder of PNG and JPEG files with a table of labels, such as ages. Split the images into
-- train, validation and test first, then draw pairs within each part. The model learns which image of a pair has
-- the larger label. Here the images are synthetic faces.
local mr = require "moonrank"
mr.data.drawn_faces{ count = 200, size = 12, noise = 0.05 }:save "faces"
local images = mr.data.images("faces", { size = 12 })
local train, valid, test = images:split{ seed = 1 }
local model = mr.models.cnn{ height = 12, width = 12, kernel = 3, filters = { 4, 8 }, hidden = { 16 }, seed = 1 }
local run = mr.fit{ model = model, loss = mr.losses.ranknet{}, train = train:comparisons{ pairs = 400 },
  valid = valid:comparisons{ pairs = 100 }, test = test:comparisons{ pairs = 200 }, batch = 50, epochs = 6,
  optimizer = mr.optim.adam{ lr = 0.005 }, metrics = { "auc" }, progress = false }
print(images, run.test.mean.auc > 0.7)  -- AUC is the share of pairs in the right order
--> images: 200 of 3 x 12 x 12	true
