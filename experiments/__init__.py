"""Programs that use the package: training, matches, tables, measurements."""
