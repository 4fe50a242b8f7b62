"""`/api/failures…`: what failed, by fingerprint."""
