"""Writes moonrank/_names.py: the names of losses, metrics and bounds and the options of losses and evaluations as types,
from the library's own declarations.

Run it after a loss, metric, bound or option was added: python3 python/generate_names.py
"""

import pathlib
import sys
import textwrap
import types

folder = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(folder))

_HEAD = '''"""Names of losses, metrics and bounds, and options, as types. Written by generate_names.py."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, overload

from numpy.typing import ArrayLike

Reduction = Literal["mean", "sum", "none"]
'''
_BASE = '''
    def __init__(self, name: str, {first}, **options: Any) -> None:
        self._make(name, {given}, options)

    def _make(self, name: str, {plain}, options: dict[str, Any]) -> None:
        raise NotImplementedError
'''
_FIRST = {"TorchLoss": 'bound: Bound | str = "none", reduction: Reduction = "mean"',
          "TreeObjective": 'bound: Bound | str = "none"'}
_PYTHON = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "number[]": "ArrayLike"}


def _filled(text, indent):
    return textwrap.fill(text, 117, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def _literal(title, names):
    entries = ", ".join(f'"{name}"' for name in names)
    return f"\n{title} = Literal[\n" + _filled(entries, "    ") + ",\n]\n"


def _type(option):
    if option["name"] == "metric":
        return "MetricName | str"
    choices = list(option.get("choices") or [])
    kinds = [_PYTHON[kind] for kind in option["types"] if kind in _PYTHON]
    choices += [kind[1:-1] for kind in option["types"] if kind.startswith('"')]
    if choices:
        kinds.append(f"Literal[{', '.join(map(_value, choices))}]")
    return " | ".join(kinds)


def _value(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _parameter(option):
    kind, default = _type(option), option.get("default")
    if default is None:
        return f"{option['name']}: {kind} | None = None"
    return f"{option['name']}: {kind} = {_value(float(default) if kind.split(' ')[0] == 'float' else default)}"


def _overload(base, loss, losses):
    learns = base == "TorchLoss"
    options = [option for option in losses.options_of(loss, learns) if option["name"] != "bound"]
    # spaces within a parameter become \0 while the text is wrapped, so that lines break only between parameters
    rest = " ".join(f"{part},".replace(" ", "\0") for part in [*_FIRST[base].split(", "), "*"] +
                    [_parameter(option) for option in options])
    return (f'\n    @overload\n    def __init__(self, name: Literal["{loss["name"]}"],\n'
            + _filled(rest[:-1] + ") -> None:".replace(" ", "\0"), " " * len("    def __init__(")).replace("\0", " ")
            + '\n        """' + textwrap.indent(losses.documentation(loss["name"], learns), " " * 8).lstrip()
            + '\n        """\n')


def text(names, declared, losses):
    """Returns the text of moonrank/_names.py.

    names:    as moonrank.names() returns them
    declared: losses and options, as the function "declared" of the library returns them
    losses:   the module moonrank._losses
    """
    out = [_HEAD]
    for title, key in (("Loss", "losses"), ("MetricName", "metrics"), ("Bound", "bounds")):
        out.append(_literal(title, names[key]))
    conventions = declared["evaluate"]
    for option in conventions:
        if option.get("choices"):
            out.append(f"\n{option['name'].capitalize()} = {_type(option)}\n")
    out.append("\n\nclass Conventions(TypedDict, total=False):\n"
               '    """Options of moonrank.evaluate that decide the value of a metric."""\n')
    for option in conventions:
        kind = option["name"].capitalize() if option.get("choices") else _type(option)
        out.append(f'\n    {option["name"]}: {kind} | None\n' + _filled(f'"""{option["text"]}"""', "    ") + "\n")
    for base, title in (("TorchLoss", "moonrank.torch.Loss"), ("TreeObjective", "objectives of trees")):
        out.append(f'\n\nclass {base}:\n    """Arguments of {title}."""\n')
        out += [_overload(base, loss, losses) for loss in declared["losses"]]
        first = _FIRST[base]
        out.append(f'\n    @overload\n    def __init__(self, name: str, {first}) -> None:\n'
                   '        """Makes the loss of this name, which a script may have defined."""\n')
        plain = ", ".join(part.split(" = ")[0] for part in first.split(", "))
        given = ", ".join(part.split(":")[0] for part in first.split(", "))
        out.append(_BASE.format(first=first, plain=plain, given=given))
    return "".join(out)


class _Unwritten(types.ModuleType):
    """Stands for moonrank._names, which may be missing or broken while it is written."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return object


if __name__ == "__main__":
    sys.modules["moonrank._names"] = _Unwritten("moonrank._names")
    from moonrank import _library, _losses, names as names_of
    (folder / "moonrank/_names.py").write_text(
        text(names_of(), _library.call("declared", None), _losses))
