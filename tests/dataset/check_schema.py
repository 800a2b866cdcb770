#!/usr/bin/env python3
"""Checks every line of a dataset's files against its JSON Schema.

usage: check_schema.py SCHEMA FILE...    FILE is *.jsonl or *.jsonl.gz; a last line without its end is passed over

Prints file:line: what for each line that is wrong (20 at most) and, last, how many records of which kind were checked.
Exit status: 0 all are right, 1 some are not or there were none, 2 wrong usage, 77 python3-jsonschema is missing.
"""

import collections
import gzip
import json
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def lines_of(path):
    """The whole lines of a file, as far as it goes."""
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        try:
            for line in file:
                if line.endswith(b"\n"):
                    yield line
        except EOFError:  # killed while it was written
            pass


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def problem_with(validator, line):
    """What is wrong with a line, and its record."""
    try:
        record = json.loads(line.decode("ascii"), parse_constant=no_constant)
    except ValueError as wrong:
        return str(wrong), {}
    wrong = jsonschema.exceptions.best_match(validator.iter_errors(record))
    if wrong is None:
        return "", record
    where = ".".join(str(part) for part in wrong.absolute_path)
    return f"{where or 'the record'}: {wrong.message[:200]}", record


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="ascii") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    kinds, wrong = collections.Counter(), 0
    for path in arguments[1:]:
        for number, line in enumerate(lines_of(path), 1):
            problem, record = problem_with(validator, line)
            if problem:
                wrong += 1
                if wrong <= 20:
                    print(f"{path}:{number}: {problem}")
            else:
                kinds[record["record"]] += 1
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{sum(kinds.values())} records are right ({told}), {wrong} are wrong")
    return 0 if kinds and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
