"""A program that makes many different system calls with many flags, each with a result that does not matter."""

import errno
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import time


def attempt(call, *args, **named):
    try:
        return call(*args, **named)
    except OSError as error:
        assert error.errno != errno.ENOSYS


fd = os.open("calls.tmp", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o640)
attempt(os.open, "no/such/file", os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
attempt(os.open, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
attempt(os.open, ".", os.O_PATH)
tmp = attempt(os.open, ".", os.O_TMPFILE | os.O_RDWR, 0o600)
attempt(os.open, "calls.tmp", os.O_RDWR | os.O_SYNC)
attempt(os.open, "calls.tmp", os.O_RDWR | os.O_DSYNC | os.O_NOATIME)
os.write(fd, b"x" * 9000)
os.lseek(fd, 0, os.SEEK_SET)
os.lseek(fd, -5, os.SEEK_END)
attempt(os.lseek, fd, 3, os.SEEK_HOLE)
os.pread(fd, 10, 3)
os.pwrite(fd, b"y", 5)
os.preadv(fd, [bytearray(3), bytearray(4)], 1)
os.ftruncate(fd, 20000)
attempt(os.posix_fallocate, fd, 0, 4096)
attempt(os.posix_fadvise, fd, 0, 0, os.POSIX_FADV_SEQUENTIAL)
fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
fcntl.flock(fd, fcntl.LOCK_UN)
fcntl.fcntl(fd, fcntl.F_GETFD)
fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
fcntl.fcntl(fd, fcntl.F_GETFL)
fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
os.fchmod(fd, 0o600)
os.access("calls.tmp", os.R_OK | os.W_OK)
os.access("calls.tmp", os.F_OK)
attempt(os.access, "calls.tmp", os.X_OK, effective_ids=False, dir_fd=os.open(".", os.O_RDONLY))
os.stat("calls.tmp", follow_symlinks=False)
attempt(os.symlink, "calls.tmp", "calls.link")
os.readlink("calls.link")
os.rename("calls.link", "calls.other")
os.mkdir("calls.dir", 0o711)
os.rmdir("calls.dir")
os.unlink("calls.other")
attempt(os.unlink, "calls.dir")
os.umask(os.umask(0o77))
a, b = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
attempt(os.read, a, 5)
attempt(os.splice, a, b, 5)
memory = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ)
attempt(memory.madvise, mmap.MADV_WILLNEED)
anonymous = mmap.mmap(-1, 65536, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)
anonymous.resize(131072) if hasattr(anonymous, "resize") else None
anonymous.close()
for family, kind in [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_SEQPACKET)]:
    s = attempt(socket.socket, family, kind | socket.SOCK_NONBLOCK)
    if s and family == socket.AF_INET:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        attempt(s.accept)
        attempt(s.shutdown, socket.SHUT_RDWR)
one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
one.send(b"abc", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
two.recv(1, socket.MSG_PEEK)
two.recv(3)
poll = select.epoll()
poll.register(two.fileno(), select.EPOLLIN)
poll.modify(two.fileno(), select.EPOLLOUT)
poll.poll(0)
poll.unregister(two.fileno())
select.select([two], [], [], 0)
select.poll().poll(0)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR1)
attempt(os.kill, 2**22 + 5, 0)
signal.setitimer(signal.ITIMER_VIRTUAL, 50)
resource.getrlimit(resource.RLIMIT_NOFILE)
resource.getrusage(resource.RUSAGE_CHILDREN)
attempt(os.sched_setscheduler, 0, os.SCHED_BATCH, os.sched_param(0))
os.sched_get_priority_max(os.SCHED_FIFO)
os.sched_getaffinity(0)
attempt(os.getpriority, os.PRIO_PROCESS, 0)
attempt(os.memfd_create, "x", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
attempt(os.eventfd, 1, os.EFD_NONBLOCK | os.EFD_SEMAPHORE)
os.getrandom(8, os.GRND_NONBLOCK)
time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
time.sleep(0.001)
attempt(os.isatty, 1)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os._exit(3)
os.waitpid(child, 0)
attempt(os.waitpid, -1, os.WNOHANG)
attempt(os.waitid, os.P_ALL, 0, os.WEXITED | os.WNOHANG)
os.unlink("calls.tmp")
