"""The DeepSeek form of the same model: latent attention and a few experts.

Parameter for parameter what transformers' DeepseekV2ForCausalLM is. Keys and
values of all heads are raised from one latent, beside one rotary key that the
heads share; from the second layer on the MLP is a choice among experts.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from model import MLP, Attention, Config, Layer, RMSNorm, rotate


@dataclass
class LatentConfig(Config):
    num_hidden_layers: int = 4
    num_key_value_heads: int = 6  # every head has its own, raised from the latent
    head_dim: int = 16  # the rotary channels, as transformers has it here
    kv_lora_rank: int = 64
    qk_nope_head_dim: int = 32
    v_head_dim: int = 32
    n_routed_experts: int = 4
    num_experts_per_tok: int = 2
    moe_intermediate_size: int = 160
    n_shared_experts: int = 1
    first_k_dense_replace: int = 1


def pairs_apart(x):
    """Interleaved rotary pairs in the half-split order that rotate() wants."""
    return torch.cat((x[..., 0::2], x[..., 1::2]), -1)


class LatentAttention(nn.Module):
    start_as_copy = Attention.start_as_copy

    def __init__(self, config):
        super().__init__()
        self.heads = heads = config.num_attention_heads
        self.rank, self.rotary = config.kv_lora_rank, config.head_dim
        self.content, self.value = config.qk_nope_head_dim, config.v_head_dim
        wide = config.hidden_size
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.q_proj = linear(wide, heads * (self.content + self.rotary))
        self.kv_a_proj_with_mqa = linear(wide, self.rank + self.rotary)
        self.kv_a_layernorm = RMSNorm(self.rank, 1e-6)  # as transformers has it
        self.kv_b_proj = linear(self.rank, heads * (self.content + self.value))
        self.o_proj = linear(heads * self.value, wide)

    def value_weights(self):
        """What a head's value is of a row, [heads * value, hidden]."""
        raised = self.kv_b_proj.weight.view(self.heads, -1, self.rank)
        down = self.kv_a_proj_with_mqa.weight[:self.rank]
        return (raised[:, self.content:] @ down).flatten(0, 1)

    def forward(self, x, cos, sin):
        batch, tokens, _ = x.shape
        split = lambda t: t.view(batch, tokens, self.heads, -1).transpose(1, 2)
        q, q_rotary = split(self.q_proj(x)).split(
            (self.content, self.rotary), -1)
        latent, k_rotary = self.kv_a_proj_with_mqa(x).split(
            (self.rank, self.rotary), -1)
        raised = split(self.kv_b_proj(self.kv_a_layernorm(latent)))
        k, v = raised.split((self.content, self.value), -1)
        turn = lambda t: rotate(pairs_apart(t), cos, sin).to(v.dtype)
        k_rotary = turn(k_rotary.unsqueeze(1)).expand(-1, self.heads, -1, -1)
        q = torch.cat((q, turn(q_rotary)), -1)
        k = torch.cat((k, k_rotary), -1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, tokens, -1))


class Experts(nn.Module):
    """Routed experts beside a shared one; the gate is DeepSeek-V2's softmax."""

    def __init__(self, config):
        super().__init__()
        self.top = config.num_experts_per_tok
        size, wide = config.hidden_size, config.moe_intermediate_size
        self.gate = nn.Linear(size, config.n_routed_experts, bias=False)
        self.experts = nn.ModuleList(
            MLP(size, wide) for _ in range(config.n_routed_experts))
        self.shared_experts = MLP(size, wide * config.n_shared_experts)
        self.balance = None

    def forward(self, x):
        rows = x.flatten(0, -2)
        with torch.autocast("cpu", enabled=False):
            scores = F.linear(rows.float(), self.gate.weight).softmax(-1)
        weights, chosen = scores.topk(self.top, -1)
        counts = F.one_hot(chosen, len(self.experts)).sum(1).float().mean(0)
        # 1 where all experts are chosen alike (the switch transformer's loss).
        self.balance = (counts * scores.mean(0)).sum() * len(
            self.experts) / self.top
        out = self.shared_experts(rows).float()
        for number, expert in enumerate(self.experts):
            row, place = (chosen == number).nonzero(as_tuple=True)
            out = out.index_add(
                0, row, expert(rows[row]).float() * weights[row, place, None])
        return out.to(x.dtype).view_as(x)


class LatentLayer(Layer):
    attention = LatentAttention

    def mlp_of(self, config, index):
        if index < config.first_k_dense_replace:
            return super().mlp_of(config, index)
        return Experts(config)


def balance_loss(model):
    """The mean over layers with experts; 0 for a model without."""
    losses = [m.balance for m in model.modules() if isinstance(m, Experts)]
    return sum(losses) / len(losses) if losses else 0.0
