python make_csv.py
wgsindy fit measurements.csv --library poly2 --noise-correction --out corrected
