#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times tamis and its peers on the same pictures, in turns, in one process.

    bench/peers/setup.sh             once: gets the peers
    bench/peers/run.py               all rows; prints the tables
    bench/peers/run.py --quick       the most telling rows, shorter turns
    bench/peers/run.py --record      all rows; also writes bench/results/ and bench/RESULTS.md

See bench/README.md for the method. The exit status is 1 when a result differs from a peer's by more
than its row allows, whatever the times.
"""
import argparse
import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def arguments():
    a = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    a.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of libtamis.so")
    a.add_argument("--threads", default="1,2", help="numbers of threads, such as 1,2")
    a.add_argument("--rows", default="",
                   help="only rows whose name has one of these parts: 'median 5,f32'")
    a.add_argument("--quick", action="store_true", help="fewer rows, shorter turns")
    a.add_argument("--pairs", type=int, default=7, help="turns of each peer")
    a.add_argument("--photo", help="another photo")
    a.add_argument("--cpu", help="highest instruction set of tamis: c, base, avx2, avx512")
    a.add_argument("--json", help="write the figures to this file")
    a.add_argument("--svg", help="write the chart to this file")
    a.add_argument("--record", action="store_true",
                   help="write bench/results/DATE-CPU.json and .svg and the tables of RESULTS.md")
    a.add_argument("--child", help=argparse.SUPPRESS)  # measure, write to this file
    return a.parse_args()


def enter_environment(build):
    """Goes on in the Python that setup.sh made."""
    folder = os.path.join(build, "peers", "venv")
    python = os.path.join(folder, "bin", "python")
    if os.path.realpath(sys.prefix) == os.path.realpath(folder):
        return
    if not os.path.exists(python):
        sys.exit("the peers are not there yet: run bench/peers/setup.sh")
    os.execv(python, [python, *sys.argv])


def chosen_rows(options):
    import rows
    words = [re.escape(w) + r"(?!\d)" for w in options.rows.split(",") if w]  # 3 is not 31
    return [r for r in rows.all_rows() if (r.quick or not options.quick)
            and (not words or any(re.search(w, r.name) for w in words))]


def child(options):
    """Measures with one number of threads, on as many CPUs, the last of those allowed."""
    threads = int(options.threads)
    cpus = sorted(os.sched_getaffinity(0))[-threads:]
    os.sched_setaffinity(0, cpus)
    import contestants
    import measure
    import picture
    tamis = contestants.Tamis(os.path.join(options.build, "libtamis.so"), threads, options.cpu)
    peers = contestants.all_peers(os.path.join(options.build, "peers"), threads, tamis)
    pictures = picture.Pictures(options.photo)
    pace = measure.Pace(options.pairs, 0.01 if options.quick else 0.02, threads > 1)
    result = measure.measure(chosen_rows(options), tamis, peers, pictures, pace, threads)
    result.update(threads=threads, cpus=cpus, isa=tamis.isa, photo=pictures.path,
                  versions={"tamis": tamis.version, **{p.key: p.version for p in peers}})
    with open(options.child, "w", encoding="utf-8") as f:
        json.dump(result, f)


def measure_in_child(threads):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        args = [a for a in sys.argv if a != "--record"]
        subprocess.run([sys.executable, *args, "--threads", str(threads), "--child", f.name],
                       check=True)
        return json.load(f)


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        facts = dict(line.split(":", 1) for line in f if ":" in line)
    facts = {k.strip(): v.strip() for k, v in facts.items()}
    return (f"{facts.get('model name', platform.machine())}, family {facts.get('cpu family')}"
            f" model {facts.get('model')}")


def commit():
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True,
                              text=True).stdout.strip()
    changed = git("status", "--porcelain", "--", "src", "filters", "include", "cmake")
    return git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def main():
    options = arguments()
    enter_environment(options.build)
    if options.child:
        return child(options)
    import report
    command = shlex.join(["bench/peers/run.py", *sys.argv[1:]])
    record = {
        "schema_version": 1, "command": command, "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": cpu_name(), "cpus": len(os.sched_getaffinity(0)),
                    "system": platform.freedesktop_os_release()["PRETTY_NAME"],
                    "kernel": platform.release()},
        "runs": [measure_in_child(t) for t in options.threads.split(",")],
    }
    print(report.markdown(record))
    if options.record:
        report.write_record(record, os.path.join(ROOT, "bench"))
    if options.json:
        report.write_json(record, options.json)
    if options.svg:
        report.write_svg(record, options.svg)
    return 1 if report.wrong(record) else 0


if __name__ == "__main__":
    sys.exit(main())
