"""What people say of answers: runs, a queue judged blind first, agreement, gold from verdicts, export and import."""
