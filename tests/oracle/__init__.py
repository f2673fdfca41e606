"""Plain-Python truth for the tests: slow, readable, and independent of the package."""
