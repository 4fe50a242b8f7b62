"""What the doctor looks at, a module per part of the body. Each check reads and judges one thing."""
