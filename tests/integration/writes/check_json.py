# SPDX-License-Identifier: MIT
"""Checks that FILE is what docs/formats.md says: check_json.py FILE.

Prints the totals: alloc_objects, alloc_space, inuse_objects, inuse_space. It computes the totals
again from the rows, by the formula of docs/sampling.md.
"""
import json
import math
import sys


def fail(text):
    sys.exit(f'{sys.argv[1]}: {text}')


def estimate(row, kind):
    objects, size_of = (
        (row['alloc_count'], row['alloc_bytes'])
        if kind < 2
        else (row['inuse_count'], row['inuse_bytes'])
    )
    if not objects:
        return 0
    size = size_of / objects
    probability = 1 if row['interval'] <= 1 or not size else -math.expm1(-size / row['interval'])
    value = (size_of if kind % 2 else objects) / probability
    return -value if row['side'] == 'base' else value


def check_estimate(got):
    if not got['low'] <= got['value'] <= got['high'] or got['base'] < 0:
        fail(f'an interval that does not hold its value: {got}')


def check_stacks(profile):
    rows = {}
    for row in profile['rows']:
        rows.setdefault(row['stack'], []).append(row)
    for number, stack in enumerate(profile['stacks']):
        if any(frame >= len(profile['frames']) for frame in stack['frames']):
            fail(f'stack {number} has a frame that is not there')
        for kind, got in enumerate(stack['estimates']):
            check_estimate(got)
            wanted = sum(estimate(row, kind) for row in rows.get(number, []))
            if abs(got['value'] - wanted) > 0.5 + 1e-9 * abs(wanted):
                fail(f'stack {number}: {got["value"]}, its rows add up to {wanted}')


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        profile = json.load(file)
    if profile['schema'] != 'heapinject-profile' or profile['version'] != 1:
        fail('schema or version')
    names = [kind['name'] for kind in profile['sample_types']]
    if names != ['alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space']:
        fail(f'sample types {names}')
    for frame in profile['frames']:
        if frame['module'] is not None and not frame['module'] < len(profile['modules']):
            fail('a module that is not there')
        int(frame['address'], 16)
    for part in profile['parts']:
        if part['row'] >= len(profile['rows']) or part['thread'] >= len(profile['threads']):
            fail('a part of nothing')
    check_stacks(profile)
    for kind, got in enumerate(profile['totals']):
        check_estimate(got)
        wanted = sum(estimate(row, kind) for row in profile['rows'])
        if abs(got['value'] - wanted) > 0.5 + 1e-9 * abs(wanted):
            fail(f'{names[kind]}: {got["value"]}, the rows add up to {wanted}')
    print(*(total['value'] for total in profile['totals']))


main()
