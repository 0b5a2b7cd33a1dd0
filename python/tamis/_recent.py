# SPDX-License-Identifier: Apache-2.0
"""Tables that drop what was not used for the longest time, shared by threads without a lock."""


def recall(table, key):
    """What an OrderedDict, oldest use first, has under key, which becomes the newest; else None."""
    found = table.get(key)
    if found is not None:
        try:
            table.move_to_end(key)
        except KeyError:  # another thread dropped it
            pass
    return found
