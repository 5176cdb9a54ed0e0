"""A template language in a few lines, and the tidy-up that makes prose of it.

`{slot}` is replaced by a fact of the story; `[a|b|c]` by one of its choices,
nested as deep as wanted. Both draw on the story's own random generator only.
"""
import re

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
# `said` follows !" and ?" in the templates, so only a full stop before the
# closing quote ends a sentence for certain.
_START = re.compile(r'(^|[.!?] |\n|\." )([a-z])')
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])")


def expand(template, slots, rng):
    """One sentence or more of prose from a template."""
    while True:
        match = _CHOICE.search(template)
        if match is None:
            break
        choice = rng.choice(match.group(1).split("|"))
        template = template[:match.start()] + choice + template[match.end():]
    return _SLOT.sub(lambda m: slots[m.group(1)], template)


def polish(text):
    """Spaces, articles and capital letters."""
    text = re.sub(r" +", " ", text).replace("-", " ").strip()
    text = _ARTICLE.sub(r"\1n ", text)
    return _START.sub(lambda m: m.group(1) + m.group(2).upper(), text)
