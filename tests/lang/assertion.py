assert x.dim() == 1, "one dimension"
