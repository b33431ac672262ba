"""Shapes of files that other tools write, recognised by their keys and converted into the lines of a bundle."""
