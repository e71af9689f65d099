"""The pretrained base: its file, the pieces that stay, the tokenizer made of them, and the model that training begins with."""
