import warnings
from pathlib import Path

import wgsindy as wg

rows = [f"{n / 10:.1f},{(n * 7) % 11},{(n * 5) % 13}" for n in range(60)]
rows[20] = "2.0,NaN,3"  # a value is missing
rows[30:40] = []  # a second of silence
rows.insert(10, rows[9])  # a row twice
Path("messy.csv").write_text("t,x,y\n" + "\n".join(rows) + "\n")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    reading = wg.read("messy.csv")

for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}")
print(reading.data)
