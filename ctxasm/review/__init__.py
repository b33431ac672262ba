"""What people say of answers."""
