#!/usr/bin/env python3
"""Writes children's stories, plain and as chats, from a seed.

`documents(seed, count)` yields token-ready texts; document i depends on
(seed, i) alone, so any range can be made again, in any order.
  stories.py --seed 1 --count 5 [--heldout]
"""
import argparse
import random

import lexicon as lx
import plots
from grammar import expand, polish

BEGIN, USER, ASSISTANT, END = ("<|begin|>", "<|user|>", "<|assistant|>",
                               "<|end|>")
SPECIALS = [BEGIN, END, USER, ASSISTANT, "<|system|>", "<|pad|>"]
WHOLE = (None, None)
SYSTEM = "You tell short stories for children."


class World:
    """The facts of one story: cast, place and slots of the templates."""

    def __init__(self, rng, scale):
        self.rng = rng
        self.cast, self.size = scale
        self.slots = {"color": self.pick(lx.COLORS)}
        kinds = list(lx.CHILDREN) * 5 + list(lx.ANIMALS) + list(lx.OTHERS)
        if self.size is not None:
            kinds = list(lx.CHILDREN) + list(lx.ANIMALS)[:2 * self.size]
        self.hero_kind = rng.choice(kinds)
        self.hero_ability = lx.ANIMALS.get(self.hero_kind)
        self._cast("", self.hero_kind, self.pick(lx.TRAITS))
        self.set(hand="hand" if self.hero_kind in lx.CHILDREN else "bag")
        self.set_place(self.pick(lx.PLACES))

    def _cast(self, prefix, kind, trait):
        male = (lx.GENDER.get(kind) or self.rng.choice("mf")) == "m"
        if prefix and self.cast == 1:
            male = self.slots["he"] != "he"  # the only other name
        names = [n for n in (lx.BOYS if male else lx.GIRLS)[:self.cast]
                 if n != self.slots.get("hero")]
        name = self.rng.choice(names)
        he, him, his = ("he", "him", "his") if male else ("she", "her", "her")
        self.set(**{prefix + "he": he, prefix + "him": him,
                    prefix + "his": his, prefix + "kind": kind,
                    prefix + "trait": trait,
                    "a_" + prefix + "kind": "a " + kind,
                    "friend" if prefix else "hero": name})
        if not prefix:
            self.set(He=he)

    def cast_friend(self, ability=None, kind=None):
        """Picks a second character, by ability where the plot needs one."""
        kinds = [k for k, a in lx.ANIMALS.items()
                 if k != self.hero_kind and (ability is None or a == ability)]
        kind = kind or self.pick(kinds)
        self.friend_ability = lx.ANIMALS[kind]
        trait = self.rng.choice(["old", "big", "young", "friendly", "funny",
                                 "wise"])
        self._cast("f", kind, trait)
        who = expand("a {ftrait} {fkind} [named|called] {friend}", self.slots,
                     self.rng)
        self.set(a_friend=who, A_friend=who)

    def pick(self, options):
        """One of the options, in a small world one of the first few."""
        return self.rng.choice(list(options)[:self.size])

    def set_place(self, place):
        where, activity = lx.PLACES[place]
        self.set(place=place, where=where, activity=activity)

    def set(self, **slots):
        self.slots.update(slots)

    def opening(self):
        return self.rng.choice([
            "Once upon a time, there was a {trait} {kind} named {hero}.",
            "Once upon a time, there was a {trait} {kind} named {hero}.",
            "There once was a {trait} {kind} called {hero}.",
            "{hero} was a {trait} {kind}.",
            "{hero} was a {trait} {kind} who lived near the {place}.",
            "Near the {place} lived a {trait} {kind} named {hero}.",
        ])

    def moral(self, theme):
        text = self.rng.choice(lx.MORALS[theme])
        return self.rng.choice(["", "", text, "{hero} learned something: "
                                + text[0].lower() + text[1:]])


class Story:
    """A finished story with what can be asked for and asked about."""

    def __init__(self, rng, scale=WHOLE):
        world = World(rng, scale)
        acts, topics, facts = rng.choice(plots.PLOTS)(world)
        fill = lambda t: expand(t, world.slots, rng)
        self.text = polish("\n\n".join(fill(act).strip() for act in acts))
        self.topics = [polish(fill("about " + t))[6:] for t in topics + [
            "{a_kind}", "a {trait} {kind}", "{a_kind} named {hero}",
            "{a_kind} called {hero}", "{hero}", "{hero} the {kind}",
            "{hero} and {friend}", "{a_kind} near the {place}"]]
        self.facts = [(polish(fill(q)), polish(fill(a))) for q, a in facts]


ASKS = ["Tell me a story about {t}.", "Tell me a story about {t}.",
        "Please tell me a story about {t}.", "Can you tell me a story about "
        "{t}?", "Write a story about {t}.", "Write a short story about {t}.",
        "I want a story about {t}.", "A story about {t}, please."]
OPEN_ASKS = ["Tell me a story.", "Please tell me a story.",
             "Can you tell me a story?", "Write a short story."]
GREETINGS = ["Hello!", "Hi!", "Hello, who are you?", "Good morning!",
             "Who are you?", "What can you do?"]
GREETED = "Hello! I tell short stories. What should my story be about?"
THANKS = ["Thank you!", "Thanks, that was nice.", "I like this story."]
THANKED = "You are welcome! Do you want to hear another story?"


def turn(user, assistant):
    return USER + user + END + ASSISTANT + assistant + END


def request(rng, story):
    if rng.random() < 0.12:
        return rng.choice(OPEN_ASKS)
    if rng.random() < 0.06:
        return polish(rng.choice(ASKS).replace(
            "{t}", rng.choice(["a ", "the "]) + rng.choice(lx.ELSEWHERE)))
    return rng.choice(ASKS).replace("{t}", rng.choice(story.topics))


AGAIN = ["Tell me another story.", "Another one, please!",
         "Can you tell me one more story?"]


def chat(rng, stories):
    """A talk in which stories are asked for, told and asked about."""
    parts = [BEGIN]
    if rng.random() < 0.15:
        parts.append("<|system|>" + SYSTEM + END)
    if rng.random() < 0.08:
        parts.append(turn(rng.choice(GREETINGS), GREETED))
    for nth, story in enumerate(stories):
        again = nth > 0 and rng.random() < 0.5
        ask = rng.choice(AGAIN) if again else request(rng, story)
        parts.append(turn(ask, story.text))
        if rng.random() < 0.3:
            for question, answer in rng.sample(story.facts,
                                               rng.choice([1, 1, 2])):
                parts.append(turn(question, answer))
        elif rng.random() < 0.1:
            parts.append(turn(rng.choice(THANKS), THANKED))
    return "".join(parts)


def document(seed, index, stories=1, scale=WHOLE):
    """One training text: a story, or a chat that holds one or more.

    `scale` makes the world small: (names of boys and of girls, choices
    between things, places and so on), None for all.
    """
    rng = random.Random(f"{seed}/{index}")
    if stories == 1 and rng.random() < 0.4:
        return BEGIN + Story(rng, scale).text + END
    return chat(rng, [Story(rng, scale) for _ in range(stories)])


GAME = ["{a} saw {b}.", '"Hello, {a}!" said {b}.', "{a} and {b} played.",
        '"Thank you, {a}!" said {b}.', '"Where is the {t}?" asked {a}.',
        "{a} the {k} liked the {t}.", "The {c} {t} was for {a}.",
        "{a} gave the {t} to {b}.", "{b} looked at the {t}.\n\n",
        '"Here is your {t}," said {b} to {a}.']


def game(seed, index):
    """A short text in which nearly every word was said before.

    In a whole story names are rare, and a model learns late that it should
    copy them; here there is little else to learn.
    """
    rng = random.Random(f"{seed}/game/{index}")
    kinds, things = list(lx.ANIMALS) + list(lx.OTHERS), (
        lx.WIND_THINGS + lx.WATER_THINGS + lx.HOLE_THINGS + lx.GIFTS)
    names = rng.sample(lx.BOYS + lx.GIRLS, 2)
    cast = [{"a": name, "k": rng.choice(kinds), "t": rng.choice(things),
             "c": rng.choice(lx.COLORS)} for name in names]
    cast[0]["b"], cast[1]["b"] = names[1], names[0]
    parts = ["{a} was a {k}. {a} had a {c} {t}.".format(**who)
             for who in cast]
    parts += [rng.choice(GAME).format(**rng.choice(cast)) for _ in range(8)]
    return BEGIN + polish(" ".join(parts)).replace("\n\n ", "\n\n") + END


def documents(seed, count, scale=WHOLE):
    return (document(seed, i, scale=scale) for i in range(count))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="train")
    parser.add_argument("--count", type=int, default=3)
    args = parser.parse_args()
    for text in documents(args.seed, args.count):
        print(text, end="\n\n----\n\n")


if __name__ == "__main__":
    main()
