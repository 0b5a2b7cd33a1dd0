# SPDX-License-Identifier: Apache-2.0
"""A video through PyAV: denoised with the frames before and after, a few frames at a time.

    python video_pyav.py [IN [OUT]]        without IN, a clip is made
"""
import sys

import av
import numpy
import tamis

AROUND, BATCH = 1, 12


def make(path, frames=30, width=320, height=180):
    rng = numpy.random.default_rng(6)
    y, x = numpy.mgrid[0:height, 0:width]
    with av.open(path, "w") as out:
        stream = out.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = width, height, "yuv420p", 8e6
        for i in range(frames):
            v = 110 + 60 * ((x + 2 * i) // 40 % 2) + 30 * numpy.sin(y / 15)
            rgb = numpy.repeat((v + rng.normal(0, 12, v.shape))[..., None], 3, axis=-1)
            frame = av.VideoFrame.from_ndarray(rgb.clip(0, 255).astype("uint8"), format="rgb24")
            out.mux(stream.encode(frame))
        out.mux(stream.encode())


def batches(frames):
    """(frames, first to keep, end): with neighbors at both ends where there are any."""
    held, before = [], 0
    for frame in frames:
        held.append(frame)
        if len(held) == before + BATCH + AROUND:
            yield held, before, before + BATCH
            held = held[BATCH + before - AROUND:]
            before = AROUND
    if len(held) > before:
        yield held, before, len(held)


def main(path=None, out="clean.mp4"):
    if path is None:
        path = "clip.mp4"
        make(path)
    count, noise = 0, []
    with av.open(path) as source, av.open(out, "w") as target:
        video = source.streams.video[0]
        stream = target.add_stream("mpeg4", rate=video.average_rate)
        stream.width, stream.height, stream.pix_fmt = video.width, video.height, "yuv420p"
        stream.bit_rate = 8e6
        frames = (f.to_ndarray(format="rgb24") for f in source.decode(video))
        for held, first, end in batches(frames):
            stack = numpy.stack(held)
            clean = tamis.nlmeans(stack, 10, search=11, patch=5, frames=AROUND)
            noise.append([tamis.estimate_noise(s).sigma.mean() for s in (stack, clean)])
            for picture in clean[first:end]:
                target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
                count += 1
        target.mux(stream.encode())
    before, after = numpy.mean(noise, axis=0)
    print("%s: %d frames, noise %.1f before, %.1f after -> %s" % (path, count, before, after, out))


if __name__ == "__main__":
    main(*sys.argv[1:])
