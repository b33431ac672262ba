"""Pictures and parts that several pages draw."""
