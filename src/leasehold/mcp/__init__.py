"""leasehold for agents: a server of the Model Context Protocol in front of a gateway (extra `mcp`).

It knows the gateway by its address and its OpenAPI document alone: a tool is an operation of the HTTP API, with the same
parameters and the same words. So scopes, limits, redaction and the audit log of the gateway hold for agents, too.

Start reading in `server.py`. Only the command line may come in.
"""
