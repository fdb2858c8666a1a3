"""Starts the llama.cpp server of the xllamacpp package: llama.py MODEL PORT KEY."""
import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.api_keys = [sys.argv[3]]
params.n_ctx = 65536
params.n_parallel = 1
params.n_gpu_layers = 0
params.fit_params = False
params.warmup = False
params.use_jinja = True
params.endpoint_props = True
params.embedding = True
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
print("listening", flush=True)
signal.pause()
