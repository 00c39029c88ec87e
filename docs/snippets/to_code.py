import wgsindy as wg
from wgsindy.zoo import demo_data

gen = wg.WGSINDy("poly3").fit(demo_data()).generator_
print(gen.to_code("c").partition("/* Eigenvalues")[0])
