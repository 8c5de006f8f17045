"""Writes moonrank/_names.py: the names of losses, metrics and bounds as types, from the library's own lists.

Run it after a loss, metric or bound was added: python3 python/generate_names.py
"""

import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(folder))


def text(names):
    """Returns the text of moonrank/_names.py for names as moonrank.names() returns them."""
    out = ['"""Names of losses, metrics and bounds as types. Written by generate_names.py."""\n\n',
           "from typing import Literal\n"]
    for title, key in (("Loss", "losses"), ("MetricName", "metrics"), ("Bound", "bounds")):
        entries, line = [], "   "
        for name in names[key]:
            if len(line) + len(name) + 4 > 118:
                entries, line = entries + [line], "   "
            line += f' "{name}",'
        out.append(f"\n{title} = Literal[\n" + "\n".join(entries + [line]) + "\n]\n")
    return "".join(out)


if __name__ == "__main__":
    import moonrank
    (folder / "moonrank/_names.py").write_text(text(moonrank.names()))
