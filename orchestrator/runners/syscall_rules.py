"""Which system calls agents may make, as data: what stays shut, what a first argument may be, the rest.

Shut is what a program in a sandbox has no use for and what no namespace confines: the keyrings of the
kernel, sockets to the machine around this one, and doors to the kernel through which sandboxes were left
before. Numbers are those of Linux on x86-64 and on ARM64; None: that machine has no such call.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

NEWEST: Final = 466
"""The newest call that was looked at, on both machines; later ones count as not there."""

DENIED: Final[Mapping[str, tuple[int, int | None]]] = {
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "iopl": (172, None),
    "ioperm": (173, None),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "unshare": (272, 97),
    "setns": (308, 268),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
    "set_mempolicy_home_node": (450, 450),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "create_module": (174, None),
    "get_kernel_syms": (177, None),
    "query_module": (178, None),
    "nfsservctl": (180, 42),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
}
"""Refused with EPERM. By name: the numbers on x86-64 and ARM64."""

ABSENT: Final[Mapping[str, tuple[int, int | None]]] = {"clone3": (435, 435)}
"""Refused with ENOSYS, so that libc takes the older call, whose flags a filter can see."""

NEW_NAMESPACES: Final = 0x7E020000
"""The flags of `clone` that make namespaces; a call with any of them is refused with EPERM."""
CLONE: Final = ("clone", (56, 220))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstArgument:
    """A call that may be made with these first arguments only; with others it fails with `error`."""

    name: str
    numbers: tuple[int, int]
    allowed: tuple[int, ...]
    error: int


# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Of the others AF_VSOCK, for one, knows no network namespace.
_FAMILIES: Final = (1, 2, 10, 16)
_EPERM: Final = 1
_EAFNOSUPPORT: Final = 97

FIRST_ARGUMENTS: Final = (
    FirstArgument(name="socket", numbers=(41, 198), allowed=_FAMILIES, error=_EAFNOSUPPORT),
    FirstArgument(name="socketpair", numbers=(53, 199), allowed=_FAMILIES, error=_EAFNOSUPPORT),
    # Linux and its kin, and the question which one it is: no mode that weakens memory protection.
    FirstArgument(
        name="personality", numbers=(135, 92), allowed=(0, 8, 0x20000, 0x20008, 0xFFFFFFFF), error=_EPERM
    ),
)

_OTHERS: Final = """
accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown
clock_adjtime clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup
dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve
execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fanotify_mark fchdir fchmod fchmodat
fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat
fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake futimesat get_robust_list
getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp
getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsockname getsockopt gettid
gettimeofday getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill
landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen
listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lsm_get_self_attr lsm_list_modules
lsm_set_self_attr lstat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mkdir mkdirat
mknod mknodat mlock mlock2 mlockall mmap modify_ldt mprotect mq_getsetattr mq_notify mq_open mq_timedreceive
mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap
name_to_handle_at nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2
pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease
process_vm_readv process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink
readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat
renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop
sendfile sendmmsg sendmsg sendto set_robust_list set_tid_address setfsgid setfsuid setgid setgroups
setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid
setxattr setxattrat shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 splice stat statfs
statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill
truncate umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
"""
ALLOWED: Final = tuple(_OTHERS.split())
"""All others, for an engine that wants to be told what is allowed."""
