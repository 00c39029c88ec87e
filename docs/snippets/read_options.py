from pathlib import Path

import numpy as np

import wgsindy as wg

# Semicolons, decimal commas, timestamps: found out from the content.
Path("logger.csv").write_text(
    "Date;level;flow\n"
    "2024-03-01 00:00:00;1,25;0,5\n"
    "2024-03-01 00:10:00;1,31;0,4\n"
    "2024-03-01 00:20:00;1,28;0,6\n"
)
hours = wg.read("logger.csv", unit="h")
print(hours.data, hours.data.total_time)

# Some columns only, times in milliseconds, wanted in seconds.
Path("probe.csv").write_text("time,temp,u,v\n0,20.1,0,1\n20,20.1,0.1,0.9\n40,20.2,0.3,0.7\n")
probe = wg.read("probe.csv", states=["u", "v"], time="time", time_unit="ms", unit="s")
print(probe.data)

# A long table: one row for each value.
Path("long.csv").write_text("t,what,reading\n0,x,1\n0,y,5\n1,x,2\n1,y,4\n2,x,1.5\n2,y,4.5\n")
long = wg.read("long.csv", variable="what", value="reading")
print(long.data)

# Arrays and mappings of arrays go the same way; data frames of any kind, too.
arrays = wg.read({"x": np.array([0.0, 0.2, 0.1]), "v": np.array([1.0, 1.2, 0.9])}, dt=0.1)
print(arrays.data)
