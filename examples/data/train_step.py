#!/usr/bin/env python3
"""Writes train_step.mlir, the program that examples/stablehlo_run.c runs: a training step of a small network, as JAX lowers it.

    pip install jax && python3 examples/data/train_step.py >examples/data/train_step.mlir"""
import jax
import jax.numpy as jnp


def loss(params, x, y):
    w1, b1, w2, b2 = params
    scores = jnp.tanh(x @ w1 + b1) @ w2 + b2
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1).mean()


def train_step(lr, params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return [p - lr * g for p, g in zip(params, grads)], value


f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
params = [f32(64, 48), f32(48), f32(48, 10), f32(10)]
print(jax.jit(train_step).lower(f32(), params, f32(32, 64), jax.ShapeDtypeStruct((32,), jnp.int32)).as_text(), end="")
