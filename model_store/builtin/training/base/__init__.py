"""The pretrained base: its file, the pieces that stay, their tokenizer, and the model that training begins with."""
