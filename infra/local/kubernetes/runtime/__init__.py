"""A CRI runtime whose containers are processes of this machine. One runtime serves one simulated node.

Two kinds of code live here. What runs inside the runtime's own process may import anything. `linux`, `launch`,
`rootfs`, `credentials`, `container_process`, `container_log`, `shim` and `enter` also run once for each container, so
they import the standard library only.
"""
