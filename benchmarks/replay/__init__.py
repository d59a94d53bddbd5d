"""Figures of recorded runs under every policy, and the simulator that tuned the priced one."""
