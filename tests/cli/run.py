#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the command, from outside: run.py PATH-OF-TAMIS [unittest options]"""
import os
import sys
import unittest

if __name__ == "__main__":
    os.environ["TAMIS"] = os.path.abspath(sys.argv.pop(1))
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    names = sorted(n[:-3] for n in os.listdir(folder) if n.startswith("test_"))
    if len(sys.argv) < 2:
        sys.argv += names
    unittest.main(module=None)
