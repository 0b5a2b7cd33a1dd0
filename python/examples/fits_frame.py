# SPDX-License-Identifier: Apache-2.0
"""A frame of the sky in FITS (big-endian floats): hot pixels out, background off, stars found.

    python fits_frame.py [FRAME.fits]        without one, a sky is made
"""
import sys

import numpy
import tamis
from astropy.io import fits


def make(path, stars=40, side=512):
    rng = numpy.random.default_rng(4)
    y, x = numpy.mgrid[0:side, 0:side]
    sky = 200 + 0.1 * x + 0.05 * y + rng.normal(0, 5, (side, side))
    for cx, cy, light in zip(*rng.uniform(20, side - 20, (2, stars)),
                             rng.uniform(200, 3000, stars)):
        sky += light * numpy.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * 1.8 ** 2))
    sky[rng.integers(0, side, 300), rng.integers(0, side, 300)] = 60000  # hot pixels
    fits.writeto(path, sky.astype(">f4"), overwrite=True)


def main(path=None):
    if path is None:
        path = "sky.fits"
        make(path)
    with fits.open(path) as found:
        frame = found[0].data  # bytes in FITS's order: tamis takes them as they are
        calm = tamis.median(frame, 3)
        noise = tamis.estimate_noise(frame).sigma
        hot = (frame - calm > 8 * noise) & (calm < 0.3 * frame)
        clean = numpy.where(hot, calm, frame).astype("float32")
        background = tamis.gaussian(tamis.median(clean, 31), sigma=20)
        stars = tamis.gaussian(clean - background, sigma=1.8)
    peaks = (stars == tamis.median(stars, 9, percentile=100)) & (stars > 50)
    print("%s: %d hot pixels, %d stars" % (path, hot.sum(), peaks.sum()))
    fits.writeto("stars.fits", stars, overwrite=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
