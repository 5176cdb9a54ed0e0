"""The small world the stories live in: who, where, what, and what goes wrong.

Every entry is data. To add a character kind, a place or a thing, add a line;
the plots pick by ability or by the kind of mishap, so consistency follows.
"""

BOYS = ("Tom Ben Max Sam Leo Finn Jack Oscar Felix Theo Milo Hugo Otto Emil Noah "
        "Pip Bruno Gus Rufus Toby Adam Alex Arthur Charlie Daniel David Eli "
        "Frank George Harry Henry Jacob James John Lucas Martin Nico Peter "
        "Robin Simon Tim Victor Walter William").split()
GIRLS = ("Mia Lily Anna Ella Rosa Clara Nora Ida Emma Ruby Luna Greta Olga Tilly "
         "Molly Daisy Hazel Poppy Stella Maya Alice Amy Bella Carla Dora Eva "
         "Fiona Grace Hanna Iris Jane Julia Kate Laura Lena Lucy Maria Mary "
         "Nina Paula Sara Sofia Vera Zoe").split()

# kind -> what it is able to do. Heroes may be of any kind, helpers are chosen
# by the ability that the plot needs.
ANIMALS = {
    "fox": "run", "rabbit": "dig", "bear": "strong", "mouse": "dig",
    "duck": "swim", "owl": "fly", "frog": "swim", "cat": "climb",
    "dog": "run", "hedgehog": "dig", "squirrel": "climb", "turtle": "swim",
    "bird": "fly", "pig": "strong", "goat": "climb", "otter": "swim",
    "mole": "dig", "horse": "strong", "pony": "run", "crow": "fly",
    "monkey": "climb", "elephant": "strong", "dragon": "fly", "lamb": "run",
}
CHILDREN = {"boy": "m", "girl": "f"}

# Heroes without a special ability; a letter where the word has a gender.
OTHERS = {
    "robot": "", "princess": "f", "prince": "m", "king": "m", "queen": "f",
    "knight": "", "giant": "", "witch": "f", "wizard": "m", "lion": "",
    "tiger": "", "wolf": "", "cow": "f", "hen": "f", "penguin": "",
    "snail": "", "panda": "", "kitten": "", "puppy": "", "chicken": "",
}
GENDER = {**CHILDREN, **OTHERS}

TRAITS = "little small brave kind clever shy happy curious gentle quiet".split()
COLORS = "red blue green yellow white purple orange golden silver pink".split()

# name -> (preposition phrase, what one does there)
PLACES = {
    "forest": ("in the forest", "look at the tall trees"),
    "garden": ("in the garden", "smell the flowers"),
    "meadow": ("in the meadow", "run in the soft grass"),
    "park": ("in the park", "play in the sun"),
    "hill": ("on the hill", "look at the clouds"),
    "beach": ("on the beach", "play in the sand"),
    "farm": ("on the farm", "visit the animals"),
    "village": ("in the village", "see the market"),
    "valley": ("in the valley", "listen to the birds"),
    "orchard": ("in the orchard", "count the apples"),
}

# Things by the way in which they get lost.
WIND_THINGS = "kite hat scarf balloon ribbon flag feather paper-star".split()
WATER_THINGS = "boat ball bucket cup spoon toy-fish bottle raft".split()
HOLE_THINGS = "coin ring key button marble bell pearl whistle".split()
GIFTS = "flower shell stone necklace candle song-book drum lamp".split()
SHARED = "drum swing sled wagon ball book puppet train".split()

HIGH = ["in a tall tree", "on the roof of a barn", "on a high rock",
        "on top of an old wall"]
WET = ["the pond", "the river", "the lake", "the stream"]
DEEP = ["a deep hole", "a dark cave", "a hollow log", "a crack in the ground"]

# need -> (feels, said, what helps, effect)
NEEDS = {
    "cold": ("cold", "I am so cold", "warm scarf", "was warm again"),
    "hunger": ("hungry", "I am so hungry", "big apple",
               "ate the apple and was full"),
    "thirst": ("thirsty", "I am so thirsty", "cup of water",
               "drank the water and felt much better"),
    "rain": ("wet", "I am all wet from the rain", "big umbrella",
             "was dry again"),
    "dark": ("afraid", "I am afraid of the dark", "bright lamp",
             "was not afraid anymore"),
    "hurt": ("sad", "My foot hurts so much", "soft bandage",
             "could walk again"),
    "lonely": ("lonely", "I have nobody to play with", "little ball",
               "was not lonely anymore"),
}

# food -> (what is missing, where it comes from, who has it)
FOODS = {
    "apple cake": ("apples", "orchard", "horse"),
    "honey bread": ("honey", "forest", "bear"),
    "carrot soup": ("carrots", "garden", "rabbit"),
    "nut cookies": ("nuts", "forest", "squirrel"),
    "milk pudding": ("milk", "farm", "goat"),
    "berry pie": ("berries", "hill", "bird"),
    "pumpkin soup": ("a pumpkin", "farm", "pig"),
    "egg pancakes": ("eggs", "farm", "duck"),
}

SEEDS = {"sunflower": "the sun", "pumpkin": "a golden ball",
         "bean": "a green ladder", "rose": "a little heart",
         "apple tree": "a big umbrella", "strawberry": "a tiny red hat"}

NOISES = {"Tap, tap, tap": ("a branch", "knocked on the window"),
          "Whoo, whoo": ("the wind", "sang in the chimney"),
          "Crunch, crunch": ("a hedgehog", "ate a dry leaf"),
          "Drip, drip, drip": ("the rain", "fell into a bucket"),
          "Squeak, squeak": ("a mouse", "looked for some cheese"),
          "Bump, bump": ("an old door", "moved in the wind")}

# What people may ask for though no story here has it: the model answers with
# a story of its own world and has at least seen the word.
ELSEWHERE = ("airplane angel ant baker bakery basketball bat bee beetle bicycle "
             "blackbird bridge bus butterfly camel camera castle caterpillar "
             "cheese chocolate christmas circus city clock clown computer "
             "country cousin crocodile crown dentist desert dinosaur doctor "
             "doll dolphin donkey eagle engineer fairy family farmer feast "
             "fire firefighter fisherman football friendship ghost giraffe "
             "goose grasshopper guitar hamster helicopter hero holiday hospital "
             "ice-cream island jungle kangaroo kingdom ladybug library "
             "lighthouse lizard machine magic magician map mermaid monster "
             "morning mountain museum music neighbor night ocean octopus "
             "painter parrot party peacock piano picture pigeon pirate planet "
             "playground police potato pumpkin puzzle rainbow raccoon reindeer "
             "restaurant rocket sailor sandwich school sea seal secret shark "
             "sheep ship shoemaker skeleton snake snow snowman soldier spider "
             "spaceship spring squid star storm strawberry summer surprise "
             "swan swimming teacher telephone theater thunder tortoise tower "
             "toy treasure truck unicorn vampire vegetables violin volcano "
             "whale window winter wish woodpecker worm zebra zoo").split()

MORALS = {
    "help": ["When you help a friend, you are never alone.",
             "A good friend is the best help of all.",
             "It is good to ask for help."],
    "kind": ["A kind heart always finds a friend.",
             "When you are kind, kindness comes back to you.",
             "Small gifts can make big joy."],
    "share": ["Things are more fun when you share them.",
              "It is better to share than to fight.",
              "Sharing makes everybody happy."],
    "brave": ["You are brave when you look at what you fear.",
              "Many things are not as scary as they seem.",
              "Being brave feels good."],
    "wait": ["Good things take time.",
             "If you wait and care, good things grow.",
             "Never give up too early."],
}
