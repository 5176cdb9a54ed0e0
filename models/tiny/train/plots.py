"""Plots: each is one chain of cause and effect over the lexicon.

A plot takes a `World` and returns its acts (templates, one per paragraph),
its topics (what a reader could ask a story about) and facts (questions with
answers that follow from the story). To add a plot, write one function and
list it in `PLOTS`.
"""
import lexicon as lx


def lost(w):
    """A thing gets lost, a helper with the right ability brings it back."""
    rng = w.rng
    easy = {"fly": "wind", "climb": "wind", "swim": "water", "dig": "hole"}
    mishap = rng.choice([m for m in ("wind", "water", "hole")
                         if m != easy.get(w.hero_ability)])
    if mishap == "wind":
        thing, spot = w.pick(lx.WIND_THINGS), w.pick(lx.HIGH)
        cause = ("a strong wind [came|blew] and [took|carried] the {thing} "
                 "away. It landed {spot}.")
        ability, how = rng.choice([
            ("fly", "{friend} [flew up|flew high into the air] and [picked up|"
                    "took] the {thing}"),
            ("climb", "{friend} climbed up [quickly|very carefully] and [got|"
                      "took] the {thing}")])
        reason = "It was too high for {him}."
    elif mishap == "water":
        thing, spot = w.pick(lx.WATER_THINGS), w.pick(lx.WET)
        cause = ("{hero} [slipped on a wet stone|tripped over a root], and the "
                 "{thing} fell into {spot}.")
        ability = "swim"
        how = ("{friend} jumped into the water, swam [fast|far out], and "
               "[caught|got] the {thing}")
        reason = "The water was too deep for {him}."
    else:
        thing, spot = w.pick(lx.HOLE_THINGS), w.pick(lx.DEEP)
        cause = ("the {thing} [fell out of {his} pocket|slipped from {his} "
                 "{hand}] and rolled into {spot}.")
        ability = "dig"
        how = ("{friend} [went|crept] into the dark, dug in the earth, and "
               "found the {thing}")
        reason = "It was too dark and too small for {him}."
    w.set(thing=thing, spot=spot)
    w.cast_friend(ability)
    acts = [
        w.opening() + " {hero} had a {color} {thing}. {He} [loved it very much|"
        "took it everywhere|liked it more than anything else].",
        "One day, {hero} [went to|walked to] the {place} to {activity}. "
        "[Suddenly|Then], " + cause + " \"[Oh no|Oh dear], my {thing}!\" "
        "cried {hero}. {He} tried to [get it|reach it], but {he} could not. "
        + reason + " {hero} [sat down and cried|was very sad].",
        "{A_friend} [came by|heard {him}]. \"[Why are you sad|What is wrong]?\" "
        "asked {friend}. \"My {thing} is [gone|lost],\" said {hero}. \"[Do not "
        "worry|Do not cry], I can help you,\" said {friend}. " + how + ".",
        "\"Here is your {thing},\" said {friend}. {hero} was so happy. \"Thank "
        "you, {friend}!\" {he} said. [They played with the {color} {thing} all "
        "day|They played together until the sun went down]. [From that day on, "
        "they were best friends.|] " + w.moral("help"),
    ]
    facts = [("What did {hero} lose?", "{hero} lost a {color} {thing}."),
             ("Who helped {hero}?", "{friend} the {fkind} helped {hero}."),
             ("Where did {hero} go?", "{hero} went to the {place}."),
             ("Where was the {thing}?", {
                 "wind": "The {thing} was {spot}.",
                 "water": "The {thing} was in {spot}.",
                 "hole": "The {thing} was in {spot}."}[mishap])]
    return acts, ["a lost {thing}", "a {color} {thing}", "{a_kind} and a "
                  "{thing}", "{a_kind} and {a_fkind}"], facts


def kindness(w):
    """The hero helps a stranger; later the stranger returns the favour."""
    need = w.pick(list(lx.NEEDS))
    feels, said, aid, effect = lx.NEEDS[need]
    w.set(feels=feels, said=said, aid=aid, effect=effect)
    w.cast_friend(w.pick([a for a in ("strong", "fly", "swim", "climb",
                                            "run") if a != w.hero_ability]))
    trouble, rescue = {
        "strong": ("{hero} could not open the heavy [door|gate] of {his} "
                   "house", "{friend} was very strong and pushed it open"),
        "fly": ("{hero} got lost on the way home",
                "{friend} flew up high, saw the house, and showed {him} the "
                "way"),
        "swim": ("{hero} fell into the [river|lake] and could not swim",
                 "{friend} swam to {him} and pulled {him} out"),
        "climb": ("{hero} climbed a tall tree and could not get down",
                  "{friend} climbed up and helped {him} down"),
        "run": ("{hero} was far from home and it was getting dark",
                "{friend} ran fast and brought {him} home"),
    }[w.friend_ability]
    acts = [
        w.opening() + " One [cold|rainy|windy|quiet] day, {hero} was {where}. "
        "There {he} met {a_friend}. {friend} was {feels}.",
        "\"{said},\" said {friend}. {hero} [thought for a moment|felt sorry "
        "for {fhim}]. {He} had a {aid}. \"[You can have my|Please take my] "
        "{aid},\" said {hero}. {friend} {effect}. \"Thank you, you are so "
        "kind,\" said {friend}.",
        "[The next day|A week later], " + trouble + ". \"Help!\" cried {hero}. "
        "{friend} heard {him} and came at once. \"You helped me, and now I "
        "will help you,\" said {friend}. " + rescue + ".",
        "{hero} [smiled|laughed with joy]. \"Thank you, {friend}!\" {he} said. "
        "[They hugged each other|They went home together] and were [happy|"
        "friends forever]. " + w.moral("kind"),
    ]
    facts = [("What did {hero} give to {friend}?",
              "{hero} gave {friend} a {aid}."),
             ("Who helped {hero}?", "{friend} the {fkind} helped {hero}."),
             ("Where did they meet?", "They met {where}."),
             ("How did {friend} feel?", "{friend} was {feels}.")]
    return acts, ["being kind", "{a_kind} and {a_fkind}", "a {aid}",
                  "a new friend"], facts


def baking(w):
    """Something to cook is missing; an exchange of gifts gets it."""
    food = w.pick([f for f in lx.FOODS
                         if lx.FOODS[f][2] != w.hero_kind])
    missing, place, owner = lx.FOODS[food]
    w.set_place(place)
    w.cast_friend(kind=owner)
    w.set(food=food, missing=missing,
          song=w.pick(["sing a song", "tell a story", "clean the house",
                             "carry the wood", "dance a little dance"]))
    acts = [
        w.opening() + " One morning, {hero} wanted to make {food}. {He} looked "
        "in the kitchen. There was [flour|butter|sugar] and salt, but no "
        "{bare}.",
        "\"I need {missing},\" said {hero}. So {he} took a basket and went to "
        "the {place}. There {he} met {a_friend}. \"[Hello|Good morning], "
        "{friend}! [Can|May] I have {missing}?\" asked {hero}. \"Yes,\" said "
        "{friend}, \"if you {song} for me.\"",
        "So {hero} did {his} best to {song}. {friend} was [very happy|so "
        "pleased] and gave {him} {missing}. {hero} put everything into the "
        "basket and [ran|walked] home. {He} [mixed|stirred] and [cooked|"
        "waited], and soon the house smelled [wonderful|so good].",
        "{hero} [did not want to eat alone|wanted to share it]. {He} invited "
        "{friend}. They ate the {food} together. \"This is the best {food} in "
        "the world!\" said {friend}. " + w.moral("share"),
    ]
    w.set(bare=missing.replace("a ", "", 1) if missing.startswith("a ")
          else missing)
    facts = [("What did {hero} make?", "{hero} made {food}."),
             ("What did {hero} need?", "{hero} needed {missing}."),
             ("Who had {missing}?", "{friend} the {fkind} had {missing}."),
             ("Where did {hero} go?", "{hero} went to the {place}.")]
    return acts, ["{food}", "{a_kind} who makes {food}",
                  "{a_kind} and {a_fkind}", "sharing"], facts


def noise(w):
    """A strange sound in the night has a harmless cause."""
    sound = w.pick([s for s in lx.NOISES
                          if w.hero_kind not in lx.NOISES[s][0]])
    source, doing = lx.NOISES[sound]
    w.set(sound=sound, source=source, doing=doing)
    w.cast_friend(w.pick(["run", "strong", "dig"]))
    acts = [
        w.opening() + " {He} lived in a [small|little] house {where}. One "
        "night, {hero} was in bed. The [moon was bright|stars were out]. "
        "Suddenly {he} heard a noise. \"{sound}!\"",
        "\"What is that?\" [whispered|said] {hero}. {He} was [scared|afraid]. "
        "[Maybe it was a monster|Maybe it was a ghost]. {He} hid under the "
        "[blanket|bed]. But the noise came again. \"{sound}!\"",
        "{hero} ran to {his} friend {friend} the {fkind}. \"There is a "
        "[monster|ghost] in my house!\" said {hero}. \"Let us look together,\" "
        "said {friend}. They took a [lamp|candle] and went [slowly|quietly] "
        "to the house. They listened. \"{sound}!\"",
        "They held up the light and looked. It was only {source} that {doing}! "
        "{hero} and {friend} laughed [and laughed|for a long time]. \"I am not "
        "afraid anymore,\" said {hero}. Then {he} went to bed and slept well. "
        + w.moral("brave"),
    ]
    facts = [("What did {hero} hear?", "{hero} heard a noise in the night."),
             ("What made the noise?", "It was only {source}."),
             ("Who helped {hero}?", "{friend} the {fkind} helped {hero}."),
             ("Where did {hero} live?", "{hero} lived {where}.")]
    return acts, ["a noise in the night", "being brave", "{a_kind} who is "
                  "afraid", "{a_kind} and {a_fkind}"], facts


def quarrel(w):
    """Two want the same thing, it breaks, they mend it and share."""
    w.set(thing=w.pick(lx.SHARED),
          tool=w.pick(["glue", "a string", "some tape", "a hammer and a "
                             "nail"]))
    w.cast_friend()
    acts = [
        w.opening() + " {He} had a friend, {a_friend}. One [sunny|warm|bright] "
        "day, they found a {color} {thing} {where}.",
        "\"It is mine!\" said {hero}. \"No, it is mine!\" said {friend}. "
        "{hero} pulled on one side, and {friend} pulled on the other side. "
        "[Crack!|Snap!] The {thing} broke. Now [nobody could play with it|they "
        "had no {thing} at all].",
        "{hero} and {friend} were sad. \"I am sorry,\" said {hero}. \"I am "
        "sorry too,\" said {friend}. \"[Let us fix it|We can mend it] "
        "together.\" {hero} held the {thing}, and {friend} [got|brought] "
        "{tool}. They worked [all afternoon|for a long time].",
        "At last the {thing} was [as good as new|whole again]. First {hero} "
        "played with it, and then {friend} played with it. They [laughed|had "
        "fun] until the sun went down. " + w.moral("share"),
    ]
    facts = [("What did they find?", "They found a {color} {thing}."),
             ("Why were they sad?", "They were sad because the {thing} "
              "broke."),
             ("Who is the friend of {hero}?",
              "The friend of {hero} is {friend} the {fkind}."),
             ("How did they fix the {thing}?",
              "They fixed the {thing} with {tool}.")]
    return acts, ["a {thing}", "two friends", "sharing",
                  "{a_kind} and {a_fkind}", "a {color} {thing}"], facts


def gift(w):
    """A present is found far away, past one obstacle, with help."""
    w.set(thing=w.pick(lx.GIFTS),
          elder=w.pick(["mother", "father", "grandmother",
                              "grandfather", "sister", "brother"]))
    obstacle, ability, how = w.pick([o for o in (
        ("a wide river", "swim", "carried {him} across the water"),
        ("a high wall", "climb", "helped {him} over the wall"),
        ("a big rock on the path", "strong", "pushed the rock away"),
        ("a deep ditch", "fly", "carried {him} over the ditch"),
        ("a thick hedge", "dig", "dug a path under the hedge"))
        if o[1] != w.hero_ability])
    w.cast_friend(ability)
    w.set(obstacle=obstacle)
    acts = [
        w.opening() + " It was the birthday of {his} {elder}. {hero} wanted to "
        "[give|bring] {his} {elder} a [nice|beautiful] present. \"I will find "
        "a {color} {thing},\" {he} said.",
        "{hero} went to the {place}. On the way there was {obstacle}. {He} "
        "could not [go on|get to the other side]. \"What can I do now?\" said "
        "{hero}.",
        "Just then {a_friend} came by. \"I want to find a {thing} for my "
        "{elder},\" said {hero}. \"I will help you,\" said {friend}. {friend} "
        + how + ". [Soon|After a while] they came to the {place}. There, "
        "[between the stones|under a tree|in the grass], was a {color} "
        "{thing}!",
        "{hero} thanked {friend} and [ran|hurried] home. \"Happy birthday!\" "
        "{he} said. {his} {elder} [was so happy|smiled and hugged {him}]. \"It "
        "is the most beautiful {thing} I have ever seen.\" "
        + w.moral("help"),
    ]
    facts = [("What did {hero} find?", "{hero} found a {color} {thing}."),
             ("Who got the present?", "The {elder} of {hero} got the "
              "present."),
             ("What was on the way?", "There was {obstacle} on the way."),
             ("Who helped {hero}?", "{friend} the {fkind} helped {hero}.")]
    return acts, ["a birthday", "a present", "a {color} {thing}",
                  "{a_kind} and a {thing}", "{a_kind} and {a_fkind}"], facts


def seed(w):
    """A seed needs patience."""
    plant = w.pick(list(lx.SEEDS))
    w.set(plant=plant, looks=lx.SEEDS[plant])
    w.cast_friend()
    acts = [
        w.opening() + " One spring day, {friend} the {fkind} gave {him} a "
        "[tiny|little] seed. \"Plant it and wait,\" said {friend}.",
        "{hero} [dug|made] a small hole {where} and put the seed into the "
        "earth. {He} gave it water every day. On the first day, nothing "
        "happened. On the second day, nothing happened. \"[It will never "
        "grow|Nothing is growing],\" said {hero}. {He} was [sad|ready to give "
        "up].",
        "\"You must [wait|be patient],\" said {friend}. \"[Good things|Seeds] "
        "need time.\" So {hero} waited. {He} gave it water and sang to it. "
        "[The sun was warm|The rain fell softly], and one morning there was a "
        "small green leaf!",
        "The leaf grew and grew. [In summer|Soon] it was a [big|beautiful] "
        "{plant}. It looked like {looks}. {hero} [called|ran to] {friend}. "
        "\"Look, it is so beautiful!\" said {hero}. They [danced|sat] together "
        "beside the {plant}. " + w.moral("wait"),
    ]
    facts = [("What did {hero} plant?", "{hero} planted a seed."),
             ("What did the seed become?", "The seed became a {plant}."),
             ("Who gave {hero} the seed?",
              "{friend} the {fkind} gave {hero} the seed.")]
    return acts, ["a seed", "a {plant}", "{a_kind} and a {plant}", "waiting",
                  "{a_kind} and {a_fkind}"], facts


PLOTS = [lost, lost, kindness, kindness, baking, noise, quarrel, gift, gift,
         seed]
