"""Suites of tasks."""
