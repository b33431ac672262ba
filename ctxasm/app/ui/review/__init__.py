"""Review: people judge answers citation by citation, and the history of the answers that are kept."""
