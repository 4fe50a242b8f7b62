"""The aiohttp service: one route table, from which handlers, decoding and documents come."""
