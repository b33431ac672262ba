"""What every page has: navigation, pickers, settings, the session behind them."""
