"""`python -m leasehold` is the same as `leasehold`."""

from leasehold.cli import main

if __name__ == "__main__":
    main()
