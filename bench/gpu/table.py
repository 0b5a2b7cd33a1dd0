#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One table of what gpu_bench and its peers measured.

    bench/gpu/table.py TAMIS.json [PEERS.json]...

A file of peers holds one record or a list of them.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))
from report import number, table  # noqa: E402: lies beside the peers of the CPU

HEAD = ["row", "picture", "ms", "Gpix/s", "floor", "target", "met", "best peer", "peer Gpix/s",
        "times faster"]


def load(path):
    """The records of a file."""
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError) as error:
        print(f"{path} is left out: {error}", file=sys.stderr)
        return []
    return found if isinstance(found, list) else [found]


def best_peers(records):
    """The fastest row of each name."""
    best = {}
    for row in (row for record in records for row in record["rows"]):
        if row["row"] not in best or row["gpix"] > best[row["row"]]["gpix"]:
            best[row["row"]] = row
    return best


def cells(row, peer):
    if "refused" in row:
        return [row["row"], row["image"], "", "", "",
                number(row["target"]) if row["target"] else "-",
                "not there", peer["peer"] if peer else "", number(peer["gpix"]) if peer else "", ""]
    goal = row["wanted"]
    floor = f"{100 * row['floor_share']:.0f} %" if row["floor_share"] else ""
    met = "-" if not goal else "yes" if row["gpix"] >= goal else "NO"
    mine = [row["row"], row["image"], f"{row['times']['median']:.4g}", number(row["gpix"]), floor,
            number(goal) if goal else "-", met]
    if not peer:
        return [*mine, "", "", ""]
    return [*mine, peer["peer"], number(peer["gpix"]), number(row["gpix"] / peer["gpix"])]


def summary(rows, peers):
    there = [row for row in rows if "refused" not in row]
    goals = [row["gpix"] >= row["wanted"] for row in there if row["wanted"]]
    text = (f"Targets met: {sum(goals)}, missed: {len(goals) - sum(goals)}, rows without a kernel:"
            f" {len(rows) - len(there)}.")
    ratios = sorted(row["gpix"] / peers[row["row"]]["gpix"] for row in there
                    if row["row"] in peers)
    if ratios:
        text += (f" Times faster than the best peer: least {number(ratios[0])}, median row"
                 f" {number(ratios[len(ratios) // 2])}.")
    return text


def main():
    records = [record for path in sys.argv[1:] for record in load(path)]
    if not records:
        return 1
    own, others = records[0], records[1:]
    peers, m = best_peers(others), own["machine"]
    who = "; ".join([own["who"], *(record["who"] for record in others)])
    print(f"{m['gpu']}, compute capability {m['compute']}, CUDA driver {m['driver']}, runtime"
          f" {m['runtime']}; the device copies {own['copy_bytes_per_second'] * 1e-12:.2f} TB/s,"
          f" read and written.\n{who}.\n")
    print(table(HEAD, [cells(row, peers.get(row["row"])) for row in own["rows"]]))
    print("\n" + summary(own["rows"], peers))
    notes = [f"- {row['row']}: {row['note']}" for row in own["rows"] if row.get("note")]
    print("\n" + "\n".join(notes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
