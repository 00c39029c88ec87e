from dask.distributed import Client

import wgsindy as wg

if __name__ == "__main__":  # worker processes import this file
    data = wg.zoo.get("duffing").simulate(seed=0, substeps=10)
    # Two processes here; on a cluster Client("tcp://10.0.0.1:8786"), as `dask scheduler` prints it.
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        fitted = wg.WGSINDy("poly3", engine=client).fit(data)
    print("\n".join(fitted.generator_.equations(errors=True)))
