"""The checks of `leasehold doctor`, a module for each subject. Each check reads and judges one thing. Start in
`checkup.py`."""
