"""What the papers do with trees: link prediction, topics of nodes, classification, regression, word embeddings."""
