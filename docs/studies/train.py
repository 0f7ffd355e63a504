"""A linear model that predicts the next velocities of a data set's nodes: python train.py BEAM.dataset"""

import sys

import numpy as np

from pliant.training_data import Samples


def features(sample: dict[str, np.ndarray], step: int) -> np.ndarray:
    """Per node: velocity, displacement, means of both over the neighbours, stiffness, 1 (nodes, 14)."""
    tets, count = sample["cells"], len(sample["mesh_pos"])
    moved = sample["world_pos"][step] - sample["mesh_pos"]
    own = np.hstack([sample["velocity"][step], moved])
    near, seen = np.zeros_like(own), np.zeros((count, 1))
    for corner in range(4):
        others = own[tets].sum(axis=1) - own[tets[:, corner]]
        np.add.at(near, tets[:, corner], others / 3)
        np.add.at(seen, tets[:, corner], 1.0)
    near /= np.maximum(seen, 1.0)
    stiffness = np.log10(sample["parameters"][0]) - 6.0
    return np.hstack([own, near, np.full((count, 1), stiffness), np.ones((count, 1))])


def pairs(samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Features and changes of velocity of all free nodes at all times."""
    x, y = [], []
    for sample in samples:
        free = sample["node_type"][:, 0] == 0
        for step in range(len(sample["time"]) - 1):
            x.append(features(sample, step)[free])
            y.append((sample["velocity"][step + 1] - sample["velocity"][step])[free])
    return np.concatenate(x), np.concatenate(y)


def train(path: str, epochs: int = 60, width: int = 32) -> list[float]:
    """Two layers, gradient descent with momentum; gives the loss after each epoch."""
    x, y = pairs(Samples(path, "train"))
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0) * (spread > 0)) / np.where(spread > 1e-12, spread, 1.0)
    y = y / y.std()
    chance = np.random.default_rng(0)
    layers = [chance.normal(size=(x.shape[1], width)) / x.shape[1] ** 0.5, np.zeros((width, 3))]
    speed = [np.zeros_like(layer) for layer in layers]
    losses = []
    for epoch in range(epochs):
        order = chance.permutation(len(x))
        total = 0.0
        for rows in np.array_split(order, max(1, len(x) // 64)):
            hidden = np.tanh(x[rows] @ layers[0])
            error = hidden @ layers[1] - y[rows]
            total += float((error**2).sum())
            slopes = [
                x[rows].T @ ((error @ layers[1].T) * (1 - hidden**2)) / len(rows),
                hidden.T @ error / len(rows),
            ]
            for k, slope in enumerate(slopes):
                speed[k] = 0.9 * speed[k] - 0.05 * slope
                layers[k] += speed[k]
        losses.append(total / y.size)
        if epoch % 10 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch}: loss {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    train(sys.argv[1])
