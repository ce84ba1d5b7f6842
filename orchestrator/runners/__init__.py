"""What builds the walls: each module renders one `LaunchPlan`; none decides a mount.

`catalog` lists them and chooses. Each has a runner and a handle (`docker_*`, `bubblewrap_*`, `process_*`);
`docker_engine` and `docker_stream` are the talk with the engine, `image` builds the agent image,
`image_pruning` removes old ones; `syscall_rules` and `syscall_filter` say which calls to the kernel are
refused; `bubblewrap_command` is the arguments, `bubblewrap_opening` the start, `user_namespace`, `cgroup` and
`memory_watch` its limits, `host_system` what it binds of this machine; `lifeline` ends a process with us.
`runner_files` is what runs inside without an image, `tool_packages` what a model's tool server needs there,
`model_programs` both for an agent of a model. `agent_programs` says which programs can be installed,
`program_fetch` fetches one, `agent_directory` lays them out, `program_pruning` removes what earlier versions
left. `mount_check` compares what is mounted with the plan, `child` and `procfs` are processes and their
pipes. Imports `contracts`, `core` and below.
"""
