"""Many settings on many questions: what each context costs and what of the evidence it holds, everything shared that can be."""
