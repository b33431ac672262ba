"""The command line, one module a command. Results go to standard output, messages to standard error."""
