"""GradBench's tool for JAX, with a clock that waits for the result.

As it stands, the tool stops its clock when the call returns; JAX returns at once and computes later. Run in a checkout
of GradBench with `python/gradbench` in PYTHONPATH.
"""

import os
import sys

import jax
from gradbench import wrap


def waiting(decorate):
    """A decorator of `gradbench.wrap` whose functions wait for their results."""

    def replacement(**options):
        inner = decorate(**options)
        return lambda function: inner(lambda x: jax.block_until_ready(function(x)))

    return replacement


wrap.function = waiting(wrap.function)
wrap.multiple_runs = waiting(wrap.multiple_runs)
sys.path.insert(0, os.path.join("python", "gradbench", "gradbench", "tools", "jax"))

import run  # noqa: E402

run.main()
