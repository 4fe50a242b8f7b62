"""Kubernetes, as the gateway's pod sees it: how many pods of workers there are, and asking for another number.

The routes of `resources/workers/` come in. Start in `worker_set.py`. `pod.py` is what Kubernetes gives a pod, `api_server.py` one
request to its API server, `refusals.py` what its answers mean to our caller.
"""
