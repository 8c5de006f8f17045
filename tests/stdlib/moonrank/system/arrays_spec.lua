-- Tests array files of other programs, such as NumPy's .npy. Files to read are written here byte by byte, as NumPy's
-- documentation says.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, equal, it = test.check, test.describe, test.equal, test.it

local folder, bytes_of = files.new_folder(), files.read

local function file_of(name, bytes)
  local path = folder .. "/" .. name
  files.write(path, bytes)
  return path
end

-- Returns the bytes of an .npy file of version 1 or 2 with this dictionary in its header and these numbers.
local function npy(header, numbers, version)
  local form = (version or 1) == 1 and "<s2" or "<s4"
  return "\x93NUMPY" .. string.char(version or 1, 0) .. form:pack(header) .. numbers
end

local function header(descr, shape, fortran)
  return ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n"):format(descr, fortran and "True" or "False", shape)
end

-- Checks that the error of a call has these key words.
local function raises(words, f, ...)
  local arguments = table.pack(...)
  test.raises(function() f(table.unpack(arguments, 1, arguments.n)) end, words)
end

local function read(...) return mr.load_tensors(file_of("x.npy", npy(...))) end

-- The bytes of a zip file without entries: the record at the end of every zip file, with all counts 0.
local empty_zip = "PK\5\6" .. ("\0"):rep(18)

-- Debian's Python comes first, because ./bootstrap installs its packages
local interpreter = core.is_file "/usr/bin/python3" and "/usr/bin/python3" or "python3"

-- Runs Python code with NumPy. Returns false if there is no such Python.
local function python(text)
  local script = file_of("script.py", text)
  local printed = files.output(("cd '%s' && %s %s 2>&1"):format(folder, interpreter, script))
  return not printed:find "No module named" and printed
end

describe("load_tensors:", function()
  it("reads every type of number", function()
    local numbers = { { "'<f8'", "<d", 0.1, "float64" }, { "'>f8'", ">d", 0.1, "float64" },
      { "'<f4'", "<f", 0.5, "float32" }, { "'>f4'", ">f", 0.5, "float32" }, { "'<i8'", "<i8", -2, "int64" },
      { "'>i4'", ">i4", -2, "int64" },
      { "'<i2'", "<i2", -2, "int64" }, { "'|i1'", "<i1", -2, "int64" }, { "'|u1'", "<B", 200, "int64" },
      { "'<u2'", "<I2", 65535, "int64" }, { "'<u4'", "<I4", 4294967295, "int64" }, { "'<u8'", "<I8", 7, "int64" },
      { "'|b1'", "<B", 1, "int64" }, { "'=f8'", "=d", 0.25, "float64" } }
    for _, each in ipairs(numbers) do
      local descr, form, number, dtype = table.unpack(each)
      local found = read(header(descr, "(3,)"), form:pack(number):rep(3))
      equal({ descr, found.dtype, found:size(1), found[3]:item() }, { descr, dtype, 3, number })
    end
  end)

  it("reads numbers of 16 bits", function()
    -- float16 values: 1, -2, the largest, the smallest subnormal, infinity, -0
    local found = read(header("'<f2'", "(6,)"), ("<I2I2I2I2I2I2"):pack(0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x8000))
    local expected = { 1, -2, 65504, 2.0 ^ -24, math.huge, -0.0 }
    for i, number in ipairs(expected) do equal(found[i]:item(), number) end
    equal(1 / found[6]:item(), -math.huge)
    local bfloat = '{"x":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    local tensors = mr.load_tensors(file_of("x.safetensors", ("<s8"):pack(bfloat) .. ("<I2I2"):pack(0x3F80, 0xC040)))
    equal({ tensors.x[1]:item(), tensors.x[2]:item(), tensors.x.dtype }, { 1, -3, "float32" })
  end)

  it("brings Fortran's order into rows", function()
    local found = read(header("'<i8'", "(2, 3)", true), ("<i8i8i8i8i8i8"):pack(11, 21, 12, 22, 13, 23))
    equal({ found[1][3]:item(), found[2][1]:item(), found:size(1) }, { 13, 21, 2 })
    local cube = read(header("'|i1'", "(2, 1, 2)", true), "\1\2\3\4")
    equal({ cube[1][1][2]:item(), cube[2][1][1]:item() }, { 3, 2 })
  end)

  it("reads tensors without dimensions, without entries, and headers of version 2", function()
    equal(read(header("'<f8'", "()"), ("<d"):pack(2.5)):item(), 2.5)
    equal(read(header("'<f8'", "(0, 4)"), ""):size(2), 4)
    equal(read(header("'<f8'", "(1,)"), ("<d"):pack(2.5), 2)[1]:item(), 2.5)
  end)

  it("refuses what is no array of numbers", function()
    local one = ("<d"):pack(1)
    local function refused(words, ...) raises(words, read, ...) end
    refused("pickled", header("'|O'", "(1,)"), one)
    refused("records", header("[('a', '<f8')]", "(1,)"), one)
    refused("<c16", header("'<c16'", "(1,)"), one)
    refused("<U5", header("'<U5'", "(1,)"), one)
    refused("expected 16", header("'<f8'", "(2,)"), one)
    refused("expected 8", header("'<f8'", "(1,)"), one .. one)
    refused("too large", header("'<f8'", "(4611686018427387904, 8)"), one)
    refused("-1", header("'<f8'", "(-1,)"), one)
    refused("6 dimensions", header("'<f8'", "(1, 1, 1, 1, 1, 1, 1)"), one)
    refused("twice", "{'shape': (1,), 'shape': (1,), 'descr': '<f8'}", one)
    refused("lacks", "{'shape': (1,)}", one)
    refused("dictionary", "", one)
    refused("evil", "{'evil': __import__('os')}", one)
    refused("18446744073709551615", header("'<u8'", "(1,)"), ("\xff"):rep(8))
    raises("ends early", mr.load_tensors, file_of("x.npy", "\x93NUM"))
    raises("not an array of NumPy", mr.load_tensors, file_of("x.npy", "PK\3\4 and more"))
    raises("version 9", mr.load_tensors, file_of("x.npy", "\x93NUMPY\9\0\0\0"))
    raises("header of", mr.load_tensors, file_of("x.npy", "\x93NUMPY\2\0\xff\xff\xff\x7f"))
    raises("x.npz", mr.load_tensors, file_of("x.npz", "no zip file"))
    raises("x.npz", mr.load_tensors, file_of("x.npz", empty_zip:sub(1, -2)))
    raises("x.npz", mr.load_tensors, file_of("x.npz", (empty_zip:gsub("%z", "\1"))))
    raises("pickle", mr.load_tensors, "model.pt")
    raises("ends in", mr.load_tensors, "x.csv")
    raises("text", mr.load_tensors, 5)
  end)

  it("reads an archive without arrays, as numpy.savez() writes it, as an empty table", function()
    equal(mr.load_tensors(file_of("none.npz", empty_zip)), {})
  end)

  it("reads what NumPy writes, and NumPy reads what is written here", function()
    mr.save_tensors(folder .. "/ours.npz", { a = mr.tensor{ { 1, 2 }, { 3, 4 } }, b = mr.arange(0, 2):long() })
    mr.save_tensors(folder .. "/ours.npy", mr.tensor({ 0.1 }, { dtype = "float64" }))
    local printed = python [=[
import numpy as np
np.savez("plain.npz", x=np.arange(6, dtype=np.float32).reshape(2, 3), y=np.array(True))
np.savez_compressed("packed.npz", x=np.asfortranarray(np.arange(6).reshape(2, 3)), z=np.zeros((0, 2)))
np.save("objects.npy", np.array([None]), allow_pickle=True)
np.save("large.npy", np.arange(100000, dtype=">i4"))
found = np.load("ours.npz")
assert sorted(found) == ["a", "b"] and (found["a"] == [[1, 2], [3, 4]]).all() and found["a"].dtype == np.float32, found
assert found["b"].dtype == np.int64 and np.load("ours.npy")[0] == 0.1
print("good")]=]
    if not printed then return test.skip "python3 has no numpy" end
    equal(printed, "good\n")
    local plain, packed = mr.load_tensors(folder .. "/plain.npz"), mr.load_tensors(folder .. "/packed.npz")
    equal({ plain.x[2][3]:item(), plain.y:item(), packed.x[2][1]:item(), packed.z:size(2) }, { 5, 1, 3, 2 })
    equal(mr.load_tensors(folder .. "/large.npy")[100000]:item(), 99999)
    raises("pickled", mr.load_tensors, folder .. "/objects.npy")
  end)
end)

describe("save_tensors:", function()
  it("writes what load_tensors reads, in each format", function()
    local tensors = { scores = mr.tensor({ 1, -2, 1 / 0 }, { dtype = "float64" }), grades = mr.tensor{ { 1 }, { 0 } },
      rows = mr.zeros(0), number = mr.tensor(3), ["params/Dense_0/kernel"] = mr.tensor{ 4 } }
    for _, ending in ipairs{ "npz", "safetensors" } do
      local path = folder .. "/all." .. ending
      mr.save_tensors(path, tensors)
      local found = mr.load_tensors(path)
      for name, tensor in pairs(tensors) do
        equal({ name, found[name].dtype, tostring(found[name]) }, { name, tensor.dtype, tostring(tensor:to "cpu") })
      end
      equal(next(found, (next(found))) ~= nil, true)
    end
    for _, tensor in pairs(tensors) do
      local path = folder .. "/one.npy"
      mr.save_tensors(path, tensor)
      equal(tostring(mr.load_tensors(path)), tostring(tensor:to "cpu"))
    end
  end)

  it("writes the same bytes each time", function()
    local first, second = folder .. "/first.npz", folder .. "/second.npz"
    local tensors = { b = mr.tensor{ 1 }, a = mr.tensor{ 2 } }
    mr.save_tensors(first, tensors)
    mr.save_tensors(second, tensors)
    check(bytes_of(first) == bytes_of(second), "the files differ")
  end)

  it("replaces only files of the same format", function()
    local path = file_of("kept.npy", "a text")
    raises("exists", mr.save_tensors, path, mr.tensor{ 1 })
    equal(bytes_of(path), "a text")
    raises("exists", mr.save_tensors, file_of("kept.npz", "a text"), { a = mr.tensor{ 1 } })
    mr.save_tensors(folder .. "/again.npz", { a = mr.tensor{ 1 } })
    mr.save_tensors(folder .. "/again.npz", { a = mr.tensor{ 2 } })
    equal(mr.load_tensors(folder .. "/again.npz").a:item(), 2)
  end)

  it("refuses what the format does not hold", function()
    local one = mr.tensor{ 1 }
    raises("one tensor", mr.save_tensors, folder .. "/a.npy", { a = one })
    raises("by name", mr.save_tensors, folder .. "/a.npz", one)
    raises("tensors.a is 1", mr.save_tensors, folder .. "/a.npz", { a = 1 })
    raises("name", mr.save_tensors, folder .. "/a.npz", { one })
    raises("../a", mr.save_tensors, folder .. "/a.npz", { ["../a"] = one })
    raises("empty", mr.save_tensors, folder .. "/a.npz", { ["/a"] = one })
    raises("ends in", mr.save_tensors, folder .. "/a.csv", { a = one })
  end)
end)
