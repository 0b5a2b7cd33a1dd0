# SPDX-License-Identifier: Apache-2.0
"""What the filters' tables mean in Python: defaults, types, texts.

Used twice: at import, for the functions that people call, and by ../make_stubs.py for
_filters.pyi. It imports nothing of tamis, so that stubs can be made without the extension.
"""
import keyword
import numbers

_TYPES = {"int": "int", "float": "float", "choice": "str", "size": "_Size", "value": "_Value",
          "numbers": "_Numbers", "matrix": "_Matrix"}
# Arguments that every filter's function has; parameters may not have these names.
COMMON = ("out", "channel_axis", "alpha_channel", "guide", "device", "threads")


def identifier(name):
    """The parameter's name as an argument: 'from' is a word of Python's, so it is 'from_'."""
    return name + "_" if keyword.iskeyword(name) else name


def second(spec):
    """The argument that may follow the image by position: the first parameter, or the second
    picture where there must be one."""
    return "guide" if spec["min_inputs"] > 1 else identifier(spec["params"][0]["name"])


def default(param):
    """The default as Python shows it. Nothing is passed on for arguments that are not given."""
    value = param["default"]
    if isinstance(value, str):
        return value
    if param.get("default_percent"):
        return "%.6g%%" % value
    if param["type"] in ("int", "size") or (value == int(value) and param["type"] == "value"):
        return int(value)
    return value


def annotation(param):
    """The type of the argument, with what texts may stand in its place."""
    kind = param["type"]
    if kind == "choice":
        literal = "Literal[%s]" % ", ".join('"%s"' % c for c in param["choices"])
        return literal + " | bool" if "on" in param["choices"] else literal
    text = _TYPES[kind]
    if kind in ("int", "float") and (param.get("automatic") or isinstance(default(param), str)):
        text += ' | Literal["auto"]'
    return text


def allowed(param):
    """What may be given, for people."""
    if param["type"] == "choice":
        return ", ".join(param["choices"])
    words = "".join(", or '%s'" % w for w in param.get("words", ()))
    if param["type"] == "matrix":
        return "2-D array" + words
    text = "%.12g .. %.12g" % (param["min"], param["max"])
    if param["type"] == "numbers":
        least, most = param["least"], param["most"]
        count = "%d" % least if least == most else "%d to %d" % (least, most)
        text = "%s numbers, each %s" % (count, text)
    if param.get("odd"):
        text += ", odd"
    if param["type"] == "value":
        text += ", or '10%' of the type's range"
    return text + words + (", or 'auto'" if param.get("automatic") else "")


def docstring(spec):
    """The function's text."""
    lines = [spec["brief"][0].upper() + spec["brief"][1:] + ".", "", "Parameters", "----------",
             "image : array", "    Height x width, with channels as a third axis, or more: see "
             "help(tamis)."]
    for p in spec["params"]:
        unit = " [%s]" % p["unit"] if p["unit"] else ""
        lines.append("%s : %s%s, default %s" % (identifier(p["name"]), allowed(p), unit,
                                                default(p)))
        lines.append("    " + p["doc"])
    if spec["max_inputs"] > 1:
        lines.append("guide : array%s" % ("" if spec["min_inputs"] > 1 else ", optional"))
        lines.append("    The second picture.")
    lines += ["out, channel_axis, alpha_channel, device, threads", "    See help(tamis).", "",
              "Returns", "-------", "numpy.ndarray", ""]
    return "\n".join(lines)


def _number(value):
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return "%.17g" % float(value)


def _flat(value, axes):
    """The numbers of a sequence, or of sequences in sequences to that depth."""
    if isinstance(value, str) or axes < 1:
        raise TypeError
    for v in value:
        if isinstance(v, numbers.Number):
            yield _number(v)
        else:
            yield from _flat(v, axes - 1)


def text(param, value):
    """An argument as the library reads it. Raises TypeError for what has no such text."""
    kind = param["type"]
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        value = value.tolist()
    if isinstance(value, bool) and kind == "choice" and "on" in param["choices"]:
        return "on" if value else "off"
    if isinstance(value, numbers.Real):
        return _number(value)
    try:
        if kind == "size":
            width, height = value
            return "%sx%s" % (_number(width), _number(height))
        if kind == "numbers":
            return ",".join(_flat(value, 2))
        if kind == "matrix":
            rows = [list(_flat(row, 1)) for row in value]
            if len({len(row) for row in rows}) == 1:
                return ";".join(",".join(row) for row in rows)
            raise TypeError
    except (TypeError, ValueError):
        pass
    raise TypeError("%s=%r: wants %s" % (identifier(param["name"]), value, allowed(param)))
