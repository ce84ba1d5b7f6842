"""What builds the walls: each module renders one `LaunchPlan`; none decides a mount.

`catalog` lists them and chooses. Each has a runner and a handle (`docker_*`, `bubblewrap_*`, `process_*`);
`docker_engine` and `docker_stream` are the talk with the engine, `image` builds the agent image;
`syscall_rules` and `syscall_filter` say which doors to the kernel are shut; `bubblewrap_command` is the
arguments, `bubblewrap_opening` the start, `user_namespace`, `cgroup` and `memory_watch` its limits,
`host_system` what it binds of this machine; `lifeline` ends a process with us. `programs` is what runs
inside without an image, `tool_packages` what a model's tool server needs there, `mount_check` compares
what is mounted with the plan, `child` and `procfs` are
processes and their pipes. Imports `contracts` and below.
"""
