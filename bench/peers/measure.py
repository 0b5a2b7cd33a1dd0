# SPDX-License-Identifier: Apache-2.0
"""Turns of tamis and each peer, one after the other, and what follows from their times."""
import dataclasses
import os
import resource
import statistics
import sys
import time

import contestants
import numpy as np
import rows as table

WARM = 2
SLOW = 1.0    # seconds: calls that take longer have one turn
FAR = 50      # a peer that takes so many times longer than tamis has one turn
PAUSE = 0.003  # seconds before a turn, until idle threads of the other library have gone to sleep


@dataclasses.dataclass
class Pace:
    pairs: int
    turn: float  # seconds that a turn of short calls lasts
    pause: bool


def clock(run):
    start = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - start) / 1e6


def turn(run, pace):
    """The shortest call of a turn, in ms. Where there are several, the first does not count: it
    finds the caches full of the other's data."""
    if pace.pause:
        time.sleep(PAUSE)
    least = pace.turn * 1000
    spent = first = clock(run)
    times = []
    while spent < least and first < least / 2:
        times.append(clock(run))
        spent += times[-1]
    return min(times, default=first)


def warm(run):
    took = clock(run)
    for _ in range(WARM - 1):
        if took < SLOW * 1000:
            took = clock(run)
    return took / 1000


def rounds(pace, ours, theirs):
    """How many pairs of calls that take so many seconds."""
    far = theirs > FAR * max(ours, 0.002)
    return 1 if far or max(ours, theirs) > SLOW else pace.pairs


def alternate(ours, peers, pace):
    """Times of each: for every peer a list of (tamis, peer) pairs; and of tamis without peers."""
    took = warm(ours.run)
    wanted = {key: rounds(pace, took, warm(peer.run)) for key, peer in peers.items()}
    pairs = {key: [] for key in peers}
    for i in range(max(wanted.values(), default=0)):
        for key, peer in peers.items():
            if i < wanted[key]:
                pairs[key].append((turn(ours.run, pace), turn(peer.run, pace)))
    alone = [] if peers else [turn(ours.run, pace) for _ in range(rounds(pace, took, took))]
    return pairs, alone


def figures(times):
    return {"min": round(min(times), 4), "median": round(statistics.median(times), 4)}


def difference(ours, theirs, margin):
    """The greatest difference, and the share of samples that differ, inside a margin."""
    if margin:
        ours, theirs = (a[margin:-margin, margin:-margin] for a in (ours, theirs))
    gap = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return float(f"{gap.max():.3g}"), float(f"{np.count_nonzero(gap) / gap.size:.3g}")


def kernels(run):
    """The rows of kernels that the plan names."""
    known = {"c", "base", "avx2", "avx512", "neon"}
    return sorted(known & set(run.explain().replace(",", " ").split()))


def compare(row, ours, key, peer):
    """Facts about the peer's result. OpenCV has the same border; others are compared inside."""
    margin = 0 if key.startswith("opencv") else row.ksize
    greatest, share = difference(ours.result(), peer.result(), margin)
    same = table.same_definition(key, row)
    return {"difference": greatest, "differing": share, "same": same,
            "wrong": bool(same and not greatest <= row.tolerance)}


def measure_row(row, tamis, peers, pictures, pace):
    picture = pictures.get(row.type, row.channels, row.size)
    ours = tamis.open(row, picture)
    opened = {p.key: p.open(row, picture) for p in peers}
    opened = {key: run for key, run in opened.items() if run}
    pairs, alone = alternate(ours, opened, pace)
    mine = alone + [a for turns in pairs.values() for a, _ in turns]
    facts = {"tamis": figures(mine), "kernels": kernels(ours), "peers": {}}
    for key, run in opened.items():
        theirs = figures([b for _, b in pairs[key]])
        paired = statistics.median(b / a for a, b in pairs[key])
        theirs["ratio"] = round(theirs["min"] / facts["tamis"]["min"], 3)
        theirs["paired"] = round(paired, 3)
        theirs["pairs"] = len(pairs[key])
        theirs.update(compare(row, ours, key, run))
        facts["peers"][key] = theirs
    for run in [ours, *opened.values()]:
        run.close()
    return facts


def own_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def busy_seconds():
    """Seconds that all CPUs have worked, and that the host has taken from them."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, irq, soft, steal = map(int, f.readline().split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + soft) / tick, steal / tick


def measure(rows, tamis, peers, pictures, pace, threads):
    """All rows; also how many CPUs other programs kept busy meanwhile, and the host took."""
    start, own, (busy, steal) = time.monotonic(), own_seconds(), busy_seconds()
    measured = []
    for row in rows:
        print(f"\r\033[K{row.name}", end="", file=sys.stderr, flush=True)
        facts = {"row": row.name, "chain": row.chain, "target": row.wanted(threads),
                 "any_target": row.any_target}
        try:
            facts.update(measure_row(row, tamis, peers, pictures, pace))
        except contestants.Refused as why:
            facts["refused"] = str(why)
        measured.append(facts)
    print("\r\033[K", end="", file=sys.stderr)
    wall, own = time.monotonic() - start, own_seconds() - own
    busy, steal = (now - then for now, then in zip(busy_seconds(), (busy, steal)))
    return {"seconds": round(wall), "pairs": pace.pairs, "rows": measured,
            "others": round(max(0, busy - own) / wall, 2), "stolen": round(steal / wall, 2)}
