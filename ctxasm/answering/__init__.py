"""From context to answer: the prompt, the window it must fit, the streamed answer."""
