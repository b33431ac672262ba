"""Show me: five steps on the sample, from what search found to what the citations mean; each worked out as it is drawn."""
