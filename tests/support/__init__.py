"""What the tests share: servers, databases, processes."""
