python make_csv.py
wgsindy fit measurements.csv --library poly2 --every 5 --out thinned
