# SPDX-License-Identifier: Apache-2.0
"""Tables, JSON and a chart of what run.py measured."""
import html
import json
import math
import os
import re

NAMES = {"one_by_one": "one by one", "opencv5": "OpenCV 5", "opencv46": "OpenCV 4.6",
         "vips": "libvips", "ffmpeg": "FFmpeg"}
MARK = "<!-- tables: written by bench/peers/run.py --record -->"
END = "<!-- end of tables -->"


def best(row, same):
    """Key and figures of the fastest peer, of the same definition or of any."""
    peers = {k: p for k, p in row.get("peers", {}).items() if p["same"] or not same}
    key = min(peers, key=lambda k: peers[k]["min"], default=None)
    return key, peers.get(key)


def verdict(row):
    """Whether the target is met, in a word."""
    if "refused" in row:
        return "not there"
    if any(p["wrong"] for p in row["peers"].values()):
        return "DIFFERS"
    key, peer = best(row, same=True)
    if not row["target"]:
        return "-"
    if not key:
        return "no peer"
    _, any_peer = best(row, same=False)
    met = peer["ratio"] >= row["target"] and any_peer["ratio"] >= row["any_target"]
    return "yes" if met else "NO"


def wrong(record):
    return any(verdict(row) == "DIFFERS" for run in record["runs"] for row in run["rows"])


def number(v):
    return f"{v:.3g}" if v < 1000 else f"{v:.0f}"


def time_cell(figures):
    return f"{number(figures['min'])} / {number(figures['median'])}" if figures else ""


def peer_cell(peer):
    if not peer:
        return ""
    return f"{'' if peer['same'] else '~'}{time_cell(peer)} (x{number(peer['ratio'])})"


def target_cell(row):
    if not row["target"]:
        return "-"
    return number(row["target"]) + (f" (any: {number(row['any_target'])})" if row["any_target"]
                                    else "")


def differences(row):
    """The greatest difference from each of the peers that have the same definition."""
    values = [p["difference"] for p in row["peers"].values() if p["same"]]
    return number(max(values)) if values else ""


def row_cells(row, keys, single):
    if "refused" in row:
        return [row["row"], "", *[""] * len(keys), "", target_cell(row), verdict(row), "",
                *[""] * bool(single)]
    key, peer = best(row, same=True)
    ratio = f"{number(peer['ratio'])} / {number(peer['paired'])}" if key else ""
    cells = [row["row"], time_cell(row["tamis"])]
    cells += [peer_cell(row["peers"].get(k)) for k in keys]
    cells += [ratio, target_cell(row), verdict(row), differences(row)]
    if single:
        before = single.get(row["row"], {}).get("tamis")
        cells.append(number(before["min"] / row["tamis"]["min"]) if before else "")
    return cells


def table(head, lines):
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]

    def text(cells):
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"
    return "\n".join([text(head), "|" + "|".join("-" * (w + 2) for w in widths) + "|",
                      *map(text, lines)])


def run_table(run, single):
    keys = [k for k in NAMES if k in run["versions"]]
    head = ["row", "tamis"] + [NAMES[k] for k in keys]
    head += ["best peer / tamis", "target", "met", "difference"]
    if single:
        head.append("1 to n threads")
    return table(head, [row_cells(row, keys, single) for row in run["rows"]])


def other_targets(record):
    """u16 and f32 medians against u8: the peers have no wide ones."""
    lines = []
    for run in record["runs"]:
        times = {r["row"]: r["tamis"]["min"] for r in run["rows"] if "tamis" in r}
        for name, ms in times.items():
            u8 = times.get(re.sub(r" (u16|f32) ", " u8 ", name))
            if re.match(r"median (7|15), (u16|f32) ", name) and u8:
                lines.append(f"- {name}, {run['threads']} threads: {ms / u8:.3g} times the time of"
                             f" u8 (target: at most 3)")
    return "\n".join(lines + second_thread(record))


def second_thread(record):
    """What a second thread brings, where filters compute more than they read and write."""
    ms = {run["threads"]: {r["row"]: r["tamis"]["min"] for r in run["rows"] if "tamis" in r}
          for run in record["runs"]}
    if 1 not in ms or 2 not in ms:
        return []
    gains = {name: ms[1][name] / ms[2][name] for name in ms[2] if name in ms[1]}
    less = [f"{name} {gain:.2f}" for name, gain in gains.items() if gain < 1.85]
    return [f"- 1 to 2 threads, target 1.85 where arithmetic bounds a row: {len(gains) - len(less)}"
            f" of {len(gains)} rows have it. Less: {', '.join(less) or 'none'}."]


def totals(run):
    words = [verdict(row) for row in run["rows"]]
    ratios = sorted(best(row, same=True)[1]["ratio"] for row in run["rows"]
                    if best(row, same=True)[0])
    text = (f"Targets met: {words.count('yes')}, missed: {words.count('NO')},"
            f" wrong results: {words.count('DIFFERS')}, filters not there:"
            f" {words.count('not there')}.")
    if ratios:
        text += (f" Ratio of the best peer's time to tamis': least {number(ratios[0])},"
                 f" median row {number(ratios[len(ratios) // 2])}.")
    return text


def machine_text(record):
    m, first = record["machine"], record["runs"][0]
    versions = ", ".join(first["versions"].values())
    return (f"{record['date']}, commit {record['commit']}, `{record['command']}`\n\n"
            f"{m['cpu']}, {m['cpus']} CPUs, {m['system']}, Linux {m['kernel']}; tamis uses"
            f" {first['isa']}. {versions}. Photo: `{first['photo']}`.")


def markdown(record):
    parts = [machine_text(record)]
    single = None
    for run in record["runs"]:
        threads = run["threads"]
        parts.append(f"### {threads} thread{'s' if threads > 1 else ''}")
        parts.append(run_table(run, single))
        parts.append(totals(run))
        parts.append(f"{run['pairs']} pairs, {run['seconds']} s; meanwhile other programs kept"
                     f" {run['others']} CPUs busy and the host took {run['stolen']}.")
        if threads == 1:
            single = {row["row"]: row for row in run["rows"]}
    parts.append(other_targets(record))
    return "\n\n".join(p for p in parts if p) + "\n"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    print("wrote", path)


def write_json(record, path):
    """One line a row, so that two records can be compared with diff."""
    rest = {k: v for k, v in record.items() if k != "runs"}
    lines = [json.dumps(rest)[:-1] + ', "runs": [']
    for i, run in enumerate(record["runs"]):
        lines.append(json.dumps({k: v for k, v in run.items() if k != "rows"})[:-1] + ', "rows": [')
        lines.append(",\n".join("  " + json.dumps(row) for row in run["rows"]))
        lines.append("]}" + ("," if i + 1 < len(record["runs"]) else ""))
    write(path, "\n".join(lines) + "\n]}\n")


# ---- the chart: a bar for each row and number of threads, on a logarithmic scale

LEFT, WIDTH, BAR, GAP, TOP = 250, 560, 9, 8, 56
COLORS = ["#2f6f9f", "#d9822b", "#5c9e5c", "#8a6fae"]


def chart_rows(record):
    """(name, target, [ratio or None for each run])."""
    names = {row["row"]: row for run in record["runs"] for row in run["rows"]}
    for name, row in names.items():
        ratios = []
        for run in record["runs"]:
            found = next((r for r in run["rows"] if r["row"] == name), {})
            peer = best(found, same=True)[1] or best(found, same=False)[1]
            ratios.append(peer["ratio"] if peer else None)
        if any(ratios):
            yield name, row["target"], ratios


def place(ratio, low, high):
    share = (math.log(ratio) - math.log(low)) / (math.log(high) - math.log(low))
    return LEFT + WIDTH * min(max(share, 0), 1)


def svg_text(x, y, text, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">'
            f"{html.escape(text)}</text>")


def svg_scale(low, high, bottom):
    for tick in (0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200):
        if low <= tick <= high:
            x = place(tick, low, high)
            color = "#333" if tick == 1 else "#ddd"
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom}" stroke="{color}"/>'
            yield svg_text(x, TOP - 8, number(tick), "middle")


def svg_row(y, row, low, high):
    name, target, ratios = row
    height = BAR * len(ratios)
    yield svg_text(LEFT - 8, y + height / 2 + 4, name, "end")
    origin = place(1, low, high)
    for i, ratio in enumerate(ratios):
        if ratio:
            x = place(ratio, low, high)
            yield (f'<rect x="{min(x, origin):.1f}" y="{y + i * BAR}" height="{BAR - 1}"'
                   f' width="{abs(x - origin):.1f}" fill="{COLORS[i % len(COLORS)]}"/>')
            yield svg_text(max(x, origin) + 4, y + i * BAR + 8, number(ratio))
    if target:
        x = place(target, low, high)
        yield (f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{y + height + 1}"'
               f' stroke="#b00020" stroke-width="2"/>')


def write_svg(record, path):
    rows = list(chart_rows(record))
    ratios = [r for _, target, found in rows for r in [*found, target] if r] or [1]
    low, high = min(0.5, *ratios), max(2, *ratios) * 1.1
    step = BAR * len(record["runs"]) + GAP
    bottom = TOP + step * len(rows)
    legend = "   ".join(f"{r['threads']} thread{'s' if r['threads'] > 1 else ''}"
                        for r in record["runs"])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}"'
           f' height="{bottom + 12}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           svg_text(8, 16, "Times faster than the best peer of the same definition"
                    f" (red: target); {record['date']}, {record['machine']['cpu']}",
                    weight="bold")]
    for i, words in enumerate(legend.split("   ")):
        out.append(f'<rect x="{8 + 90 * i}" y="24" width="10" height="10"'
                   f' fill="{COLORS[i % len(COLORS)]}"/>')
        out.append(svg_text(22 + 90 * i, 33, words))
    out += svg_scale(low, high, bottom)
    for i, row in enumerate(rows):
        out += svg_row(TOP + i * step + GAP // 2, row, low, high)
    write(path, "\n".join([*out, "</svg>\n"]))


def write_record(record, bench):
    """Writes the figures, the chart and the tables between the marks of RESULTS.md."""
    cpu = re.sub(r"[^a-z0-9]+", "-", record["machine"]["cpu"].lower()).strip("-")
    base = os.path.join(bench, "results", f"{record['date']}-{cpu}")
    os.makedirs(os.path.dirname(base), exist_ok=True)
    write_json(record, base + ".json")
    write_svg(record, base + ".svg")
    path = os.path.join(bench, "RESULTS.md")
    with open(path, encoding="utf-8") as f:
        before, _, rest = f.read().partition(MARK)
    after = rest.partition(END)[2]
    chart = f"![chart](results/{os.path.basename(base)}.svg)"
    write(path, f"{before}{MARK}\n\n{markdown(record)}\n{chart}\n\n{END}{after}")
