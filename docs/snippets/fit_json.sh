python make_csv.py
wgsindy fit measurements.csv --library poly2 --out result --force --json > fit.json
python -c "import json, pathlib; print(json.loads(pathlib.Path('fit.json').read_text())['verdict'])"
