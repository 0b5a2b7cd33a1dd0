# SPDX-License-Identifier: Apache-2.0
"""Presets in chains, the library's own and given ones."""
import pickle

import numpy
import pytest

import tamis

PICTURE = numpy.random.default_rng(1).integers(0, 256, (40, 30, 3), dtype=numpy.uint8)


def test_list():
    found = tamis.presets()
    assert {"photo", "portrait", "low_light", "denoise25", "video_medium"} <= set(found)
    for name, preset in found.items():
        assert preset.about
        assert tamis.Pipeline("@" + name) == tamis.Pipeline(preset.chain)


def test_same_as_its_chain():
    by_name = tamis.Pipeline("@portrait,median")(PICTURE)
    chain = tamis.presets()["portrait"].chain
    assert (by_name == tamis.Pipeline(chain + ",median")(PICTURE)).all()
    assert (by_name != PICTURE).any()


def test_given_ones():
    given = {"mine": "box=ksize=5", "both": "@mine,@denoise10", "photo": "median"}
    pipeline = tamis.Pipeline("@both,@photo", presets=given)
    assert pipeline.text == "box=ksize=5,%s,median" % tamis.Pipeline("@denoise10").text
    assert pickle.loads(pickle.dumps(pipeline)) == pipeline  # needs the names no more
    assert len(pipeline.steps) == 3
    assert tamis.Pipeline("box", presets={}).text == "box"
    with pytest.raises(ValueError, match='no preset "mine"'):
        tamis.Pipeline("@mine")


def test_mistakes():
    with pytest.raises(ValueError, match='no preset "foto"; there are photo'):
        tamis.Pipeline("@foto")
    for given, words in (({"a": "@a"}, "stands in itself"), ({"a": "nothing"}, "preset a: "),
                         ({"a": "@b"}, 'no preset "b"'), ({"@a": "box"}, "is no name"),
                         ({"a": " "}, "no chain"), ({"a-b": "box", "a_b": "box"}, "two a_b")):
        with pytest.raises(ValueError, match=words):
            tamis.Pipeline("@a", presets=given)
    for given in ({"a": 1}, {1: "box"}, {b"a": "box"}):
        with pytest.raises(TypeError, match="a name and a chain each"):
            tamis.Pipeline("@a", presets=given)
