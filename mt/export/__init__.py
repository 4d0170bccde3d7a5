"""A trained model written for other engines: ctranslate2, onnxruntime, transformers."""
