"""Recorded runs: read as typed records, sent through policies, measured."""
