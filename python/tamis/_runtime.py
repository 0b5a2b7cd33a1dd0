# SPDX-License-Identifier: Apache-2.0
"""Contexts and plans that stay for the next call."""
from __future__ import annotations

import collections
import operator
import os
import threading

from . import _core
from ._recent import recall

_lock = threading.Lock()
_contexts = {}  # (device, threads) -> Context
# (chain, device, threads, format and size, ...) -> Plan, that of the oldest use first
_plans = collections.OrderedDict()
_open = {}  # chain -> whether something has to be chosen
_plan_bytes = 0
_default_threads = 0
_cpus = os.cpu_count() or 1

# Plans that stay: as many, and as much memory.
MAX_PLANS = 64
MAX_PLAN_BYTES = 256 << 20


def _mistake(device, threads):
    """The error for what cannot be a device and a number of threads."""
    if device is not None and not isinstance(device, str):
        return TypeError("device=%r: it is a text such as 'cuda:1', or None" % (device,))
    try:
        operator.index(threads)
    except TypeError:
        return TypeError("threads=%r: it is a number, 0 for one for each CPU" % (threads,))
    return ValueError("threads=%r: no machine has as many" % (threads,))


def context(device=None, threads=None):
    """The context for a device and a number of threads, made at its first use."""
    key = (device, _default_threads if threads is None else threads)
    try:
        found = _contexts.get(key)
        if found is None:
            with _lock:
                found = _contexts.get(key)
                if found is None:
                    found = _contexts[key] = _core.Context(threads=key[1], device=device)
    except (TypeError, OverflowError):
        raise _mistake(*key) from None
    return found


def set_threads(count: int) -> None:
    """Sets how many threads filter, the caller's included; 0 is one for each CPU.

    Holds for calls that begin afterwards and do not say threads= themselves.
    """
    global _default_threads
    context(None, count)  # refuses what is out of range
    _default_threads = count


def get_threads() -> int:
    """How many threads filter."""
    return context().threads


def is_open(chain):
    """Whether something of the chain has to be chosen from a picture: h=auto of nlmeans."""
    found = _open.get(chain)
    if found is None:
        if len(_open) >= 1024:
            _open.clear()
        found = _open[chain] = _core.Chain(context(), chain).open
    return found


def plan(chain, device, threads, key, guide=None, whole_bytes=0):
    """A plan for pictures of that key (see View.key)."""
    if threads is None:
        threads = _default_threads
    where = (chain, device, threads, key, guide, whole_bytes)
    try:
        found = recall(_plans, where)
    except TypeError:  # what cannot be looked up is neither a device nor a number
        raise _mistake(device, threads) from None
    if found is None:
        return _make(where)
    return _other(where, found) if found.full else found


def _other(where, found):
    """Another plan of that kind, so that callers with threads of their own need not wait for each
    other where there are CPUs for them; or the one that fewest wait for."""
    for i in range(1, _cpus // context(where[1], where[2]).threads):
        other = recall(_plans, where + (i,))
        if other is None:
            return _make(where, i)
        if not other.full:
            return other
        if other.running < found.running:
            found = other
    return found


def _make(where, number=0):
    chain, device, threads, key, guide, whole_bytes = where
    made = _core.Plan(_core.Chain(context(device, threads), chain), key, guide, whole_bytes)
    _keep(where + (number,) if number else where, made)
    return made


def _keep(where, made):
    global _plan_bytes
    with _lock:
        if where in _plans:
            return
        _plans[where] = made
        _plan_bytes += made.bytes
        while len(_plans) > 1 and (len(_plans) > MAX_PLANS or _plan_bytes > MAX_PLAN_BYTES):
            _plan_bytes -= _plans.popitem(last=False)[1].bytes


def _forget():
    """In a child of fork(): other threads of the parent may have been inside of the library, and
    are not here. So everything begins anew; what there was is left as it is, never freed."""
    global _lock, _plan_bytes
    _lock = threading.Lock()
    for c in _contexts.values():
        c.abandon()
    _contexts.clear()
    _plans.clear()
    _plan_bytes = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
