"""Values that are files: images, tables, sound and the like, as the SDK names and records them (wandb-format §3.5)."""
