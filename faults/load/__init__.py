"""What the fleet has to do: an app whose handlers write down when they ran, and clients that write down every call."""
