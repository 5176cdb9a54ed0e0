"""The forms of the bundled model, by the architecture that transformers loads."""
from latent import LatentConfig, LatentLayer
from model import Config, Layer, Model

FORMS = {"llama": (Config, Layer), "deepseek_v2": (LatentConfig, LatentLayer)}


def build(form, fields):
    """A model of a form; fields are those of its configuration that are set."""
    config, layer = FORMS[form]
    return Model(config(**fields), layer)
