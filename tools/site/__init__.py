"""The documentation as a site: `make docs`. Start with `build.py`; `navigation.py` says where each page stands."""
