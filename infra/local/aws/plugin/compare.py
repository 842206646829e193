"""When are two property values the same to AWS?

- A JSON document is compared as a document: white space and key order do not count.
- Lists are compared without order, because most of them are sets to AWS; `ordered` names those that are not.
- Nothing, an empty text, list or object, false and zero are the same as not given.
- A block may hold more on the observed side: what AWS filled in is not a difference.
"""

from __future__ import annotations

import json
from typing import Any

from local.aws.plugin.wire import UNKNOWN


def is_empty(value: Any) -> bool:
    """Not given, as far as AWS can tell."""
    if value is UNKNOWN:
        return False
    if isinstance(value, dict):
        return all(is_empty(item) for item in value.values())
    return value in (None, "", False, 0) or value == []


def document(value: Any) -> Any:
    """The JSON document in a text, or None when it is none."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return None
    return None


def same(wanted: Any, observed: Any) -> bool:
    """Does `observed` hold what is `wanted`?"""
    if wanted is UNKNOWN or observed is UNKNOWN:
        return False
    if is_empty(wanted) and is_empty(observed):
        return True
    if isinstance(wanted, dict) and isinstance(observed, dict):
        return all(same(value, observed.get(key)) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(observed, list):
        return len(wanted) == len(observed) and len(pairs(wanted, observed)) == len(wanted)
    if isinstance(wanted, bool) or isinstance(observed, bool):
        # Some inputs are flags written as text ("true").
        return str(wanted).lower() == str(observed).lower()
    wanted_document, observed_document = document(wanted), document(observed)
    if wanted_document is not None and observed_document is not None:
        return same_document(wanted_document, observed_document)
    if isinstance(wanted, str) != isinstance(observed, str):
        return str(wanted) == str(observed)
    return bool(wanted == observed)


def same_document(one: Any, other: Any) -> bool:
    """Policy documents: a single value and a list of just that value are the same, order in a list does not count."""
    if isinstance(one, list) != isinstance(other, list):
        one = one if isinstance(one, list) else [one]
        other = other if isinstance(other, list) else [other]
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_document(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        rest = list(other)
        for item in one:
            index = next((i for i, candidate in enumerate(rest) if same_document(item, candidate)), None)
            if index is None:
                return False
            del rest[index]
        return not rest
    return bool(one == other)


def pairs(wanted: list[Any], observed: list[Any]) -> list[tuple[int, int]]:
    """Index pairs of the items that are the same; each observed item is used once."""
    free = list(range(len(observed)))
    found = []
    for index, item in enumerate(wanted):
        match = next((other for other in free if same(item, observed[other])), None)
        if match is not None:
            free.remove(match)
            found.append((index, match))
    return found


def settle(known: Any, observed: Any) -> Any:
    """`observed`, written the way `known` writes it where both mean the same.

    So a policy keeps the program's formatting and a set the program's order, and only a real change shows.
    """
    if isinstance(known, dict) and isinstance(observed, dict):
        settled = {
            key: settle(value, observed[key]) if key in observed else value
            for key, value in known.items()
            if key in observed or is_empty(value)
        }
        return {**settled, **{key: value for key, value in observed.items() if key not in known}}
    if isinstance(known, list) and isinstance(observed, list):
        matched = pairs(known, observed)
        taken = {other for _, other in matched}
        kept = [settle(known[index], observed[other]) for index, other in matched]
        return kept + [item for index, item in enumerate(observed) if index not in taken]
    return known if same(known, observed) else observed
