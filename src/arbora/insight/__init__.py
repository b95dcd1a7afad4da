"""What a tree means: keywords, reasons, exemplars, outliers, and which cluster became which."""
