# SPDX-License-Identifier: Apache-2.0
"""A noisy photo: how noisy it is, denoised by as much, sharpened, saved with what the file carried.

    python photo.py [NOISY [OUT [CLEAN]]]
"""
import os
import sys

import tamis

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "demo")


def main(noisy=os.path.join(DEMO, "portrait_noisy.png"), out="photo_clean.png",
         clean=os.path.join(DEMO, "portrait.png")):
    photo, meta = tamis.read(noisy, meta=True)
    sigma = tamis.estimate_noise(photo, alpha_channel=meta.alpha_channel).sigma.max()
    pipeline = tamis.Pipeline("nlmeans=h=%.1f,unsharp=amount=0.3" % (0.8 * sigma))
    result = pipeline(photo, alpha_channel=meta.alpha_channel)
    tamis.write(out, result, meta=meta)
    print("noise %.1f levels; %s -> %s" % (sigma, pipeline, out))
    if os.path.exists(clean):
        truth = tamis.read(clean)
        print("PSNR %.2f dB before, %.2f dB after" % (tamis.psnr(truth, photo),
                                                      tamis.psnr(truth, result)))


if __name__ == "__main__":
    main(*sys.argv[1:])
