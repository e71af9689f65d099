"""The contents of a model folder: allowed files, configuration, safetensors headers, golden examples."""
