"""What a worker may ask of the kernel, as data: a list of what is allowed, and everything else is refused.

Answers: allowed; refused with EPERM, for what is known to be dangerous and what programs expect to be forbidden;
refused with ENOSYS, for everything that is not named here. Nothing that makes a process or a thread, opens a socket or
signals another process is allowed, so a worker is one thread with one pipe. `inside.linux.seccomp` makes the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ALLOWED: Final = _names("""
read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close close_range
openat fstat newfstatat statx faccessat faccessat2 getdents64 getcwd chdir fchdir
open stat lstat access
dup dup2 dup3 pipe pipe2 poll ppoll select pselect6
epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
fsync fdatasync flock fadvise64 statfs fstatfs umask
mmap munmap mremap mprotect madvise brk msync
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack pause
alarm setitimer getitimer
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times
getpid getppid gettid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid
uname sysinfo getrusage getrlimit getrandom getcpu sched_yield sched_getaffinity getpriority capget
futex membarrier restart_syscall exit exit_group
""")
"""Allowed whatever the arguments are."""

SCRATCH: Final = _names("""
ftruncate truncate fallocate
mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat readlink readlinkat
""")
"""Allowed where the only thing that can be written is a scratch of the worker's own, and links of others are not seen.

Landlock does not govern modes, times and where links lead, nor truncation before its third version: without namespaces
these stay shut.
"""

REFUSED: Final = _names("""
fork vfork clone execve execveat
socket socketpair bind connect listen accept accept4 sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
shutdown setsockopt getsockopt getsockname getpeername
kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_getfd pidfd_send_signal
ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp prctl prlimit64 setrlimit
setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups setsid setpgid capset
unshare setns mount umount2 pivot_root chroot mount_setattr move_mount open_tree fsopen fsconfig fsmount fspick
name_to_handle_at open_by_handle_at mknod mknodat chown fchown lchown fchownat
setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
ftruncate truncate fallocate
mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat readlink readlinkat
memfd_create memfd_secret userfaultfd mlock mlock2 mlockall munlock munlockall mincore
shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink
bpf perf_event_open io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
vmsplice splice tee fanotify_init fanotify_mark quotactl acct swapon swapoff reboot syslog
init_module finit_module delete_module kexec_load kexec_file_load iopl ioperm modify_ldt
settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname
sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set
ioctl fcntl landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp
""")
"""Refused with EPERM; some of them are allowed for certain arguments (see below) or with a scratch."""


UNSUPPORTED: Final = _names("""
getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
""")
"""Refused with EOPNOTSUPP, as by a file system without them: copying files asks, and goes on without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equal:
    """True where the argument with that index, masked, has that value; arguments are unsigned and have 64 bits."""

    argument: int
    value: int
    mask: int = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """A call that is allowed where all of the conditions hold."""

    name: str
    conditions: tuple[Equal, ...]


_LOW = 0xFFFF_FFFF  # the kernel reads 32 bits of these arguments

_FCNTL_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, locks of a process and of an open file, F_DUPFD_CLOEXEC. Not owners and
# signals of a descriptor, leases, notifications, and pipes made larger.

_IOCTL_REQUESTS = (0x5401, 0x541B, 0x5413, 0x5450, 0x5451)
# TCGETS (isatty), FIONREAD, TIOCGWINSZ, FIONCLEX, FIOCLEX.

_PR_SET_NAME, _PR_GET_NAME = 15, 16


def standing_exceptions() -> tuple[Permitted, ...]:
    """What every worker may call with certain arguments."""
    return (
        *(
            Permitted(name="fcntl", conditions=(Equal(argument=1, value=command, mask=_LOW),))
            for command in _FCNTL_COMMANDS
        ),
        *(
            Permitted(name="ioctl", conditions=(Equal(argument=1, value=request, mask=_LOW),))
            for request in _IOCTL_REQUESTS
        ),
        *(
            Permitted(name="prctl", conditions=(Equal(argument=0, value=option, mask=_LOW),))
            for option in (_PR_SET_NAME, _PR_GET_NAME)
        ),
        Permitted(
            name="prlimit64", conditions=(Equal(argument=0, value=0, mask=_LOW), Equal(argument=2, value=0))
        ),  # reading one's own limits
    )


def own_exceptions(pid: int) -> tuple[Permitted, ...]:
    """What the worker with that id may do to itself: be aborted."""
    itself = Equal(argument=0, value=pid, mask=_LOW)
    return (
        Permitted(name="kill", conditions=(itself,)),
        Permitted(name="tkill", conditions=(itself,)),
        Permitted(name="tgkill", conditions=(itself, Equal(argument=1, value=pid, mask=_LOW))),
    )
