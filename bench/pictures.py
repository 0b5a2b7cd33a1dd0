# SPDX-License-Identifier: Apache-2.0
"""Real pictures for measurements, from packages that bring them, and noise to put on them."""
import importlib.util
import os

import numpy as np
import skimage.data
from skimage.io import imread


def of_skimage(name):
    return imread(os.path.join(os.path.dirname(skimage.data.__file__), name))[..., :3]


def of_sklearn(name):
    """Two photographs that scikit-learn has in its folder; None without it."""
    spec = importlib.util.find_spec("sklearn")
    if not spec:
        return None
    return imread(os.path.join(os.path.dirname(spec.origin), "datasets", "images", name))


PICTURES = {
    "astronaut": skimage.data.astronaut,
    "brick": skimage.data.brick,
    "camera": skimage.data.camera,
    "cat": skimage.data.chelsea,
    "coffee": skimage.data.coffee,
    "coins": skimage.data.coins,
    "grass": skimage.data.grass,
    "gravel": skimage.data.gravel,
    "hubble": skimage.data.hubble_deep_field,
    "tissue": skimage.data.immunohistochemistry,
    "moon": skimage.data.moon,
    "motorcycle": lambda: of_skimage("motorcycle_left.png"),
    "page": skimage.data.page,
    "retina": lambda: skimage.data.retina()[200:1200, 200:1200],
    "rocket": skimage.data.rocket,
    "temple": lambda: of_sklearn("china.jpg"),
    "flower": lambda: of_sklearn("flower.jpg"),
}


def pictures():
    """Name and picture, u8 gray or RGB, of those that are there."""
    for name, load in PICTURES.items():
        picture = load()
        if picture is not None:
            yield name, np.ascontiguousarray(picture)


def gray(picture):
    if picture.ndim == 2:
        return picture
    luma = picture.astype(float) @ (0.299, 0.587, 0.114)
    return np.ascontiguousarray(np.rint(luma).astype(np.uint8))


def to_u8(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def add_normal(picture, sigma, seed=7):
    return to_u8(picture + np.random.default_rng(seed).normal(0, sigma, picture.shape))


def add_photons(picture, slope, seed=7):
    """Noise whose variance is slope times the level."""
    return to_u8(slope * np.random.default_rng(seed).poisson(picture / slope))


def add_impulses(picture, share, seed=7):
    rng = np.random.default_rng(seed)
    hit = rng.random(picture.shape) < share
    ends = np.where(rng.random(picture.shape) < 0.5, 0, 255).astype(np.uint8)
    return np.where(hit, ends, picture)


def psnr(a, b):
    return 10 * np.log10(255 ** 2 / max(np.mean((a.astype(float) - b) ** 2), 1e-9))
