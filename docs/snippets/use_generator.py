import wgsindy as wg
from wgsindy.zoo import demo_data

generator = wg.WGSINDy().fit(demo_data()).generator_

points = [[0.5, 0.0], [0.0, 1.0]]
print(generator.drift(points).shape, generator.diffusion(points).shape)

for c in generator.coefficients:
    interval = f"[{c.low:.3f}, {c.high:.3f}]"
    print(f"{c.target:4}{c.term:8}{c.value:8.3f}  {interval:18}{c.inclusion:.2f}")

simulated = generator.simulate([1.0, 0.0], dt=0.01, steps=500, trajectories=4, random_state=0)
print(simulated)

generator.save("model.json")  # plain JSON: no code in it, floats bit for bit
again = wg.Generator.load("model.json")
print(again.equations() == generator.equations())
