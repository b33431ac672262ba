"""Which settings to ship for a corpus, and how sure that is: from a prior over corpora, changed only on the evidence of questions."""
