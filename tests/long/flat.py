# SPDX-License-Identifier: MIT
"""Whether a series of figures stays the same: its last quarter beside its second one. The first
quarter is for what fills up once.
"""
import statistics


def medians(series):
    """Of the second and of the last quarter."""
    quarter = max(1, len(series) // 4)
    return (
        statistics.median(series[quarter : 2 * quarter] or series),
        statistics.median(series[-quarter:]),
    )


def is_flat(series, share, slack):
    """The last quarter is at most so much above the second: a share of it, and some more."""
    early, late = medians(series)
    return late <= early * (1 + share) + slack
