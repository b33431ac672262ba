"""Search by words, search by meaning, and the fusion of both rankings."""
