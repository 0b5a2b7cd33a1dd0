# SPDX-License-Identifier: Apache-2.0
"""What the process it runs in is to Dask."""
import sys


def threads_here(threads):
    """As many as the worker has, so that workers do not get in each other's way."""
    distributed = sys.modules.get("distributed")  # a worker has it; to import it takes a second
    if threads is not None or distributed is None:
        return threads
    try:
        return distributed.get_worker().state.nthreads
    except (ValueError, AttributeError):
        return None


def client_here():
    distributed = sys.modules.get("distributed")
    try:
        return distributed.get_client() if distributed else None
    except ValueError:
        return None
