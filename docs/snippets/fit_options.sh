python make_csv.py
wgsindy fit measurements.csv --states x,y --time t --trajectory run --library poly2 --out result
