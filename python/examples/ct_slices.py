# SPDX-License-Identifier: Apache-2.0
"""Slices of computed tomography: signed 16-bit samples, denoised as a stack in which each slice
sees its neighbors. Takes DICOM files in order; without any, the slice that pydicom carries, with
noise added so that there is a stack.

    python ct_slices.py [SLICE.dcm ...]
"""
import sys

import numpy
import pydicom
import tamis


def load(paths):
    """Slices in Hounsfield units, as int16."""
    if not paths:
        found = pydicom.examples.ct
        one = found.pixel_array * float(found.RescaleSlope) + float(found.RescaleIntercept)
        noise = numpy.random.default_rng(1).normal(0, 25, (5,) + one.shape)
        return numpy.rint(one + noise).astype("int16")
    slices = [pydicom.dcmread(p) for p in paths]
    return numpy.stack([numpy.rint(s.pixel_array * float(s.RescaleSlope) +
                                   float(s.RescaleIntercept)).astype("int16") for s in slices])


def main(paths):
    stack = load(paths)
    sigma = tamis.estimate_noise(stack, channel_axis=None).sigma.mean()
    alone = tamis.nlmeans(stack, 0.8 * sigma, channel_axis=None)
    together = tamis.nlmeans(stack, 0.8 * sigma, frames=1, channel_axis=None)
    left = [tamis.estimate_noise(s, channel_axis=None).sigma.mean() for s in (alone, together)]
    print("%d slices of %dx%d, noise %.1f HU; %.1f HU after each alone, %.1f HU with neighbors"
          % (stack.shape + (sigma, left[0], left[1])))
    tamis.write("ct_slices.tif", together, channel_axis=None)
    print("wrote ct_slices.tif, %d pages" % tamis.info("ct_slices.tif").pages)


if __name__ == "__main__":
    main(sys.argv[1:])
