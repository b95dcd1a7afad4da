"""Files and frames in: what is a feature, a label, a name, a text; graphs and trees."""
