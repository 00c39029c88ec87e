import wgsindy as wg
from wgsindy.zoo import demo_data

data = demo_data()  # 16 short trajectories of a noisy Van der Pol oscillator
print(data)

fitted = wg.WGSINDy().fit(data)
generator = fitted.generator_

print("\n".join(generator.equations(errors=True)))
print("library:", generator.info["library"])
print(fitted.diagnostics_.summary)
