wgsindy demo --csv demo.csv
wgsindy fit demo.csv --library poly3 --out result
