"""`leet demo`: a small real training run, recorded and watched."""
