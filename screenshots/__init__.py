"""The pictures of the README, and the runs that they show."""
