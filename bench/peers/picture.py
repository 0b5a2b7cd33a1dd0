# SPDX-License-Identifier: Apache-2.0
"""The input: a real photo plus Gaussian noise of sigma 25 levels, seed 1."""
import os
import sys

import cv2
import numpy as np

PHOTO = "/usr/share/backgrounds/mate/abstract/Elephants_3840x2160.jpg"  # Debian: mate-backgrounds
SIZES = {"512": (512, 512), "1k": (1024, 1024), "hd": (1920, 1080), "4k": (3840, 2160)}
SIGMA, SEED = 25, 1


class Pictures:
    def __init__(self, path=None):
        self.path = path or PHOTO
        if not os.path.exists(self.path):
            raise SystemExit(f"{self.path} is missing: run bench/peers/setup.sh or give --photo")
        self.photo = cv2.cvtColor(cv2.imread(self.path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        self.cache = {}

    def get(self, type, channels, size):
        """An array h x w or h x w x 3 of the type; u16 and f32 hold what u8 would round."""
        key = type, channels, size
        if key not in self.cache:
            self.cache[key] = self.make(*key)
        return self.cache[key]

    def make(self, type, channels, size):
        photo = self.photo if channels == 3 else cv2.cvtColor(self.photo, cv2.COLOR_RGB2GRAY)
        photo = cv2.resize(photo, SIZES[size], interpolation=cv2.INTER_AREA).astype(np.float64)
        noise = np.random.default_rng(SEED).normal(0, SIGMA, photo.shape)
        levels = np.clip(photo + noise, 0, 255)
        if type == "u8":
            return np.rint(levels).astype(np.uint8)
        if type == "u16":
            return np.rint(levels * 257).astype(np.uint16)
        return (levels / 255).astype(np.float32)


def main():
    """picture.py SIZE FILE...: writes the RGB picture, to be read by whole commands."""
    rgb = Pictures().get("u8", 3, sys.argv[1])
    for path in sys.argv[2:]:
        cv2.imwrite(path, cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR))


if __name__ == "__main__":
    main()
