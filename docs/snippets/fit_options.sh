python make_csv.py
# Which column is what, if names do not say; never over an older result unless told.
wgsindy fit measurements.csv --states x,y --time t --trajectory run --library poly2 --out result
wgsindy fit measurements.csv --library poly2 --out result --force --quiet
# For programs: one JSON object on standard output.
wgsindy fit measurements.csv --library poly2 --out other --json > fit.json
python -c "import json; print(sorted(json.load(open('fit.json'))))"
