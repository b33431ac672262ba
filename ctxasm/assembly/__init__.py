"""From hits to context, one file or folder a stage; `pipeline.assemble` reads as their order."""
