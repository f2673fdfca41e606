"""Tests of the rules, the views and what surrounds them."""
