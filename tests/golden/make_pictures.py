"""Small pictures of every kind that the reader knows, and the means of their areas, for tests/runtime and tests/stdlib.

Made by `python3 tests/golden/make_pictures.py` (Python 3.11, NumPy 2.4, Pillow 13.0). Pillow writes and reads them, NumPy takes the means; what
Pillow cannot write (Adam7, 16 bits of colour) is written here, chunk by chunk, from the same numbers.
"""
import json
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

folder = pathlib.Path(__file__).parent / "pictures"
height, width = 37, 53
rows, columns = 5, 7
random = np.random.default_rng(17)
y, x = np.mgrid[0:height, 0:width]
smooth = np.stack([x / width, y / height, 0.5 + 0.5 * np.sin(0.3 * x + 0.2 * y)], axis=2)
colours = np.round(255 * (0.8 * smooth + 0.2 * random.random((height, width, 3)))).astype(np.uint8)
grey = colours[:, :, 2]
alpha = np.round(255 * x / width).astype(np.uint8)
wide = (257 * colours.astype(np.uint32) + random.integers(-50, 50, colours.shape)).clip(0, 65535).astype(np.uint16)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(header, parts):
    rows_of = b"".join(b"\0" + row.tobytes() for part in parts for row in part)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows_of)) + chunk(b"IEND", b"")


adam7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def shares(pixels, boxes):
    """How much of each box each pixel fills, [boxes, pixels]."""
    edges = np.arange(boxes + 1) * pixels / boxes
    low = np.maximum(edges[:-1, None], np.arange(pixels)[None])
    high = np.minimum(edges[1:, None], np.arange(1, pixels + 1)[None])
    return np.maximum(high - low, 0) * boxes / pixels


def means(picture):
    """The means of the areas of a picture of numbers from 0 to 1, [3, rows, columns]."""
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    down, across = shares(height, rows), shares(width, columns)
    return np.einsum("ay,bx,yxc->cab", down, across, picture)


def opened(name, mode="RGB"):
    return np.asarray(Image.open(folder / name).convert(mode)).astype(np.float64) / 255


def over_white(name):
    picture = opened(name, "RGBA")
    return picture[:, :, :3] * picture[:, :, 3:] + 1 - picture[:, :, 3:]


folder.mkdir(exist_ok=True)
Image.fromarray(colours).save(folder / "colour.png")
Image.fromarray(grey).save(folder / "grey.png")
Image.fromarray(grey > 127).save(folder / "bits.png")
Image.fromarray(np.dstack([colours, alpha])).save(folder / "alpha.png")
Image.fromarray(np.dstack([grey, alpha]), "LA").save(folder / "grey_alpha.png")
palette = Image.fromarray(colours).quantize(16)
palette.save(folder / "palette.png", transparency=bytes(range(0, 256, 16)))
Image.fromarray(wide[:, :, 2]).save(folder / "grey16.png")
big_endian = wide.astype(">u2")
(folder / "colour16.png").write_bytes(png(struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0), [big_endian]))
(folder / "interlaced.png").write_bytes(png(struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1),
                                            [colours[top::down, left::across] for top, left, down, across in adam7]))
assert (np.asarray(Image.open(folder / "interlaced.png")) == colours).all()
Image.fromarray(colours).save(folder / "colour.jpg", quality=90)
Image.fromarray(colours).save(folder / "progressive.jpg", quality=80, progressive=True)
Image.fromarray(grey).save(folder / "grey.jpg", quality=85)
Image.fromarray(colours).convert("CMYK").save(folder / "cmyk.jpg", quality=90)

inks = np.asarray(Image.open(folder / "cmyk.jpg")).astype(np.float64) / 255
expected = {
    "colour.png": means(opened("colour.png")), "grey.png": means(opened("grey.png")), "bits.png": means(opened("bits.png")),
    "alpha.png": means(over_white("alpha.png")), "grey_alpha.png": means(over_white("grey_alpha.png")),
    "palette.png": means(over_white("palette.png")),
    "grey16.png": means(np.asarray(Image.open(folder / "grey16.png")).astype(np.float64) / 65535),
    "colour16.png": means(wide.astype(np.float64) / 65535), "interlaced.png": means(opened("interlaced.png")),
    "colour.jpg": means(opened("colour.jpg")), "progressive.jpg": means(opened("progressive.jpg")), "grey.jpg": means(opened("grey.jpg")),
    "cmyk.jpg": means((1 - inks[:, :, :3]) * (1 - inks[:, :, 3:])),
}
with open(folder / "means.json", "w", encoding="ascii") as file:
    json.dump({"about": "means of 5 x 7 areas, red, green, blue from 0 to 1, top to bottom, left to right: make_pictures.py",
               "height": rows, "width": columns,
               "pictures": {name: [round(v, 9) for v in value.ravel().tolist()] for name, value in expected.items()}}, file, indent=0)
    file.write("\n")
