python make_tracks.py
wgsindy fit tracks.csv --trajectory film --order 2 --library poly3 --out bead
