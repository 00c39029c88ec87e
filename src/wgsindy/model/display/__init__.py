"""How a model is written and drawn: numbers, LaTeX, MathML, pictures, notebooks."""
