"""Measurements behind the claims of the README: ratios against `wandb leet` and the SDK, taken in the same run."""
