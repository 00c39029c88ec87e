python make_concentration.py
wgsindy fit concentration.csv --log c --library poly2 --out in-logarithms
