import numpy as np

# A bead between two hollows, 12 films of a minute, 20 frames a second. Force x - x^3 - v / 2.
rng = np.random.default_rng(4)
x, v, h = rng.normal(0, 1, 12), np.zeros(12), 0.0025
frames = []
for n in range(20 * 1200):
    if n % 20 == 0:
        frames.append(x)
    v = v + h * (x - x**3 - v / 2) + rng.normal(0, np.sqrt(0.36 * h), 12)
    x = x + h * v
tracks = np.array(frames).T + rng.normal(0, 0.02, (12, 1200))  # the tracker is off by 0.02 um
tracks[rng.random(tracks.shape) < 0.05] = np.nan  # and loses the bead in one frame of 20

with open("tracks.csv", "w") as file:
    file.write("film,t [s],x [um]\n")
    for film, track in enumerate(tracks):
        for n, place in enumerate(track):
            file.write(f"{film},{n / 20:.2f},{place:.4f}\n")
