from wgsindy import WGSINDy
from wgsindy.zoo.demo import demo_data

data = demo_data()  # 16 short trajectories of a noisy Van der Pol oscillator
print(data)

fitted = WGSINDy(library="poly3", recipe="sharp").fit(data)
generator = fitted.generator_

print("\n".join(generator.equations(errors=True)))
print(fitted.diagnostics_.summary)
