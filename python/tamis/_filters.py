# SPDX-License-Identifier: Apache-2.0
"""One function for each filter, made from the library's tables when the package is imported.
Their signatures for readers and type checkers stand in _filters.pyi, made from the same tables."""
import inspect

from . import _arrays, _core, _runtime, _signature

_SPECS = {spec["name"]: spec for spec in _core.filters()}
_chains = {}  # (filter, arguments) -> chain's text
_MAX_CHAINS = 1024


def _chain(name, params, given):
    """The chain of one filter with those arguments, in the library's words."""
    texts = {}
    for key, value in given.items():
        if key not in params:
            raise TypeError("%s() got an unexpected keyword argument %r; it takes %s"
                            % (name, key, ", ".join(params)))
        if value is not None:
            texts[params[key]["name"]] = _signature.text(params[key], value)
    return _core.Chain(_runtime.context(), name, texts).text


def _make(spec):
    name = spec["name"]
    params = {_signature.identifier(p["name"]): p for p in spec["params"]}
    first = _signature.second(spec)

    def function(image, /, *args, out=None, channel_axis="auto", alpha_channel=None, guide=None,
                 device=None, threads=None, **given):
        if args:
            if len(args) > 1 or first in given or (first == "guide" and guide is not None):
                raise TypeError("%s() takes the image and %s by position; all else by name"
                                % (name, first))
            if first == "guide":
                guide = args[0]
            else:
                given[first] = args[0]
        try:
            key = (name, *given.items())
            text = _chains.get(key)
        except TypeError:  # an array among the arguments
            key = text = None
        if text is None:
            text = _chain(name, params, given)
            if key is not None:
                if len(_chains) >= _MAX_CHAINS:
                    _chains.clear()
                _chains[key] = text
        return _arrays.run(text, image, out, channel_axis, alpha_channel, guide, device, threads)

    kinds = inspect.Parameter
    arguments = [kinds("image", kinds.POSITIONAL_ONLY)]
    if first == "guide":
        arguments.append(kinds("guide", kinds.POSITIONAL_OR_KEYWORD))
    arguments += [kinds(n, kinds.POSITIONAL_OR_KEYWORD if n == first else kinds.KEYWORD_ONLY,
                        default=_signature.default(p)) for n, p in params.items()]
    commons = {"channel_axis": "auto"}
    arguments += [kinds(n, kinds.KEYWORD_ONLY, default=commons.get(n))
                  for n in _signature.COMMON if n != first]
    function.__signature__ = inspect.Signature(arguments)
    function.__name__ = function.__qualname__ = name
    function.__module__ = "tamis"
    function.__doc__ = _signature.docstring(spec)
    return function


for _name, _spec in _SPECS.items():
    globals()[_name] = _make(_spec)

__all__ = list(_SPECS)


def specs():
    """The tables: a list of dicts, as `tamis list --json` prints them."""
    return list(_core.filters())
