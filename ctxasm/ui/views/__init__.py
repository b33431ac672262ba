"""Views: each `show_*` draws one thing and returns nothing."""
