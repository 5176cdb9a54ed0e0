"""A plain PyTorch Llama, parameter for parameter what transformers'
LlamaForCausalLM is, so that an export is a change of names only.

A layer says which attention and which MLP it has; latent.py swaps both.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    vocab_size: int = 2048
    hidden_size: int = 192
    num_hidden_layers: int = 6
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    head_dim: int = 32
    intermediate_size: int = 512
    max_position_embeddings: int = 512
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * (wide * scale).to(x.dtype)


def rope_table(config, length):
    """cos and sin, [length, head_dim / 2]."""
    half = torch.arange(0, config.head_dim, 2).float() / config.head_dim
    angle = torch.outer(torch.arange(length).float(),
                        config.rope_theta ** -half)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Half-split rotary embedding of x [batch, heads, tokens, head_dim]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.head_dim = config.head_dim
        q = config.num_attention_heads * config.head_dim
        kv = config.num_key_value_heads * config.head_dim
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.q_proj = nn.Linear(config.hidden_size, q, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, kv, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, kv, bias=False)
        self.o_proj = nn.Linear(q, config.hidden_size, bias=False)

    def value_weights(self):
        """What a head's value is of a row, [heads * head_dim, hidden]."""
        v = self.v_proj.weight.view(-1, self.head_dim, self.v_proj.in_features)
        return v.repeat_interleave(self.groups, 0).flatten(0, 1)

    @torch.no_grad()
    def start_as_copy(self, scale):
        """Makes each head's output the transpose of its value projection."""
        self.o_proj.weight.copy_(scale * self.value_weights().T)

    def forward(self, x, cos, sin):
        batch, tokens, _ = x.shape
        split = lambda t: t.view(batch, tokens, -1, self.head_dim).transpose(
            1, 2)
        q, k, v = (split(p(x)) for p in (self.q_proj, self.k_proj,
                                         self.v_proj))
        q, k = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        k = k.repeat_interleave(self.groups, 1)
        v = v.repeat_interleave(self.groups, 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, tokens, -1))


class MLP(nn.Module):
    def __init__(self, size, wide):
        super().__init__()
        self.gate_proj = nn.Linear(size, wide, bias=False)
        self.up_proj = nn.Linear(size, wide, bias=False)
        self.down_proj = nn.Linear(wide, size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    attention = Attention

    def __init__(self, config, index):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = self.attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size,
                                                config.rms_norm_eps)
        self.mlp = self.mlp_of(config, index)

    def mlp_of(self, config, index):
        return MLP(config.hidden_size, config.intermediate_size)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    """Embedding, layers, final norm; the head is the embedding transposed."""

    def __init__(self, config, layer=Layer):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            layer(config, i) for i in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        cos, sin = rope_table(config, config.max_position_embeddings)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.reset()

    def reset(self):
        """Initial weights that make copying easy to find.

        Stories repeat their names, so the model must learn to copy. Wide
        embeddings keep names apart from the start, and an output projection
        that undoes the value projection lets a head repeat what it looks at;
        training then only has to learn where to look.
        """
        depth = (2 * self.config.num_hidden_layers) ** -0.5
        for name, p in self.named_parameters():
            if p.dim() == 2:
                std = 0.1 if "embed" in name else p.shape[1] ** -0.5
                scale = depth if name.endswith("down_proj.weight") else 1.0
                nn.init.normal_(p, std=std * scale)
        for layer in self.layers:
            layer.self_attn.start_as_copy(depth)

    def hidden(self, ids):
        tokens = ids.shape[1]
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, self.cos[:tokens], self.sin[:tokens])
        return self.norm(x)

    def forward(self, ids):
        return F.linear(self.hidden(ids), self.embed_tokens.weight)


def parameters(model):
    return sum(p.numel() for p in model.parameters())
