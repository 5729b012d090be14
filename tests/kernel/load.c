/* Makes a kernel say as much as it can: work of many kinds, then every system call once, with arguments that mean
 * nothing. Whatever fails does not matter; nothing here changes the machine beyond its own processes and the folder
 * that it is given. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fanotify.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void in_child(void (*work)(void), int seconds) {
    pid_t pid = fork();
    if (pid == 0) {
        alarm(seconds);
        work();
        _exit(0);
    }
    while (waitpid(pid, 0, __WALL) < 0 && errno == EINTR) {
    }
}

static void files(void) {
    char buf[65536];
    struct stat st;
    memset(buf, 'x', sizeof buf);
    for (int i = 0; i < 20; i++) {
        char name[32], to[32];
        sprintf(name, "f%d", i);
        sprintf(to, "g%d", i);
        int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        for (int j = 0; j < 8; j++) write(fd, buf, sizeof buf);
        fsync(fd);
        fdatasync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        pread(fd, buf, 4096, 8192);
        readahead(fd, 0, 65536);
        fallocate(fd, 0, 0, 1 << 20);
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 65536);
        fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4096);
        fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
        fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, 4096);
        lseek(fd, 0, SEEK_DATA);
        lseek(fd, 0, SEEK_HOLE);
        ftruncate(fd, 100);
        fsetxattr(fd, "user.one", "two", 3, 0);
        fgetxattr(fd, "user.one", buf, 10);
        flistxattr(fd, buf, 100);
        fremovexattr(fd, "user.one");
        flock(fd, LOCK_EX);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
        fcntl(fd, F_SETLK, &lock);
        fcntl(fd, F_OFD_SETLK, &lock);
        lock.l_type = F_UNLCK;
        fcntl(fd, F_SETLK, &lock);
        fcntl(fd, F_SETLEASE, F_WRLCK);
        fcntl(fd, F_SETLEASE, F_UNLCK);
        char *map = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ftruncate(fd, 65536);
        if (map != MAP_FAILED) {
            map[0] = 1;
            map[8192] = 2;
            msync(map, 65536, MS_SYNC);
            madvise(map, 65536, MADV_WILLNEED);
            munmap(map, 65536);
        }
        rename(name, to);
        link(to, name);
        symlink(to, "sym");
        stat("sym", &st);
        unlink("sym");
        chmod(to, 0600);
        chown(to, 1, 1);
        utimes(to, 0);
        int other = open("copy", O_RDWR | O_CREAT, 0644);
        off_t zero = 0;
        sendfile(other, fd, &zero, 4096);
        copy_file_range(fd, 0, other, 0, 4096, 0);
        ioctl(other, 0x40049409 /* FICLONE */, fd);
        close(other);
        close(fd);
        unlink(name);
        unlink(to);
        unlink("copy");
        mkdir(name, 0755);
        rmdir(name);
    }
    int fd = open("direct", O_RDWR | O_CREAT | O_DIRECT, 0644);
    void *page;
    posix_memalign(&page, 4096, 65536);
    for (int i = 0; i < 10; i++) pwrite(fd, page, 65536, 65536 * i);
    pread(fd, page, 65536, 0);
    close(fd);
    unlink("direct");
    sync();
    open("none/such", O_RDONLY);
    int dir = open(".", O_RDONLY | O_DIRECTORY);
    syscall(SYS_getdents64, dir, buf, sizeof buf);
    syncfs(dir);
}

static void *thread(void *arg) {
    for (int i = 0; i < 200; i++) {
        sched_yield();
        usleep(100);
    }
    return 0;
}

/* How much memory to work on; at least 12 MiB. */
static size_t size = 64 << 20;

static void memory(void) {
    char *map = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(map, size, MADV_HUGEPAGE);
    memset(map, 1, size);
    int advice[] = {MADV_DONTNEED, MADV_FREE, MADV_COLD, MADV_PAGEOUT, MADV_MERGEABLE, 25 /* MADV_COLLAPSE */, MADV_POPULATE_WRITE,
                    MADV_NOHUGEPAGE, MADV_RANDOM};
    for (int i = 0; i < 9; i++) {
        madvise(map, 8 << 20, advice[i]);
        map[0] = 2;
    }
    mprotect(map, 1 << 20, PROT_READ);
    mremap(map, size, size / 2, 0);
    mlock(map + (4 << 20), 65536);
    munlock(map + (4 << 20), 65536);
    void *pages[4] = {map, map + 4096, map + 8192, map + (5 << 20)};
    int nodes[4] = {0}, status[4];
    syscall(SYS_move_pages, 0, 4, pages, nodes, status, 2);
    unsigned long mask = 1;
    syscall(SYS_mbind, map, 1 << 20, 2, &mask, 64, 3);
    syscall(SYS_migrate_pages, 0, 64, &mask, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < size / 2; i += 4096) map[i + (1 << 20)] = 3;
        _exit(0);
    }
    waitpid(pid, 0, 0);
    brk(sbrk(0) + 65536);
    int memfd = memfd_create("m", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ftruncate(memfd, 4 << 20);
    char *shared = mmap(0, 4 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    memset(shared, 1, 4 << 20);
    fcntl(memfd, F_ADD_SEALS, F_SEAL_GROW);
    fallocate(memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20);
    munmap(shared, 4 << 20);
    mmap(0, 4 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    int uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    struct uffdio_api api = {.api = UFFD_API};
    ioctl(uffd, UFFDIO_API, &api);
    munmap(map, size / 2);
}

static void compaction(void) {
    int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);
    write(fd, "1", 1);
}

static void pipes(void) {
    int p[2], q[2];
    char buf[8192] = {0};
    pipe(p);
    pipe2(q, O_NONBLOCK);
    for (int i = 0; i < 50; i++) {
        write(p[1], buf, 4096);
        tee(p[0], q[1], 4096, 0);
        read(p[0], buf, 4096);
        read(q[0], buf, 4096);
        struct iovec iov = {buf, 4096};
        vmsplice(p[1], &iov, 1, 0);
        splice(p[0], 0, q[1], 0, 4096, 0);
        read(q[0], buf, 4096);
    }
    struct pollfd pf = {p[0], POLLIN};
    poll(&pf, 1, 10);
    int ep = epoll_create1(0);
    struct epoll_event ev = {EPOLLIN};
    epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev);
    write(p[1], buf, 1);
    epoll_wait(ep, &ev, 1, 10);
    int event = eventfd(1, 0);
    uint64_t n;
    read(event, &n, 8);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec its = {{0, 1000000}, {0, 1000000}};
    timerfd_settime(timer, 0, &its, 0);
    for (int i = 0; i < 5; i++) read(timer, &n, 8);
    timerfd_gettime(timer, &its);
    int in = inotify_init1(0);
    inotify_add_watch(in, ".", IN_ALL_EVENTS);
    close(open("watched", O_CREAT | O_RDWR, 0600));
    unlink("watched");
    read(in, buf, sizeof buf);
    int fan = syscall(SYS_fanotify_init, 0, 0);
    syscall(SYS_fanotify_mark, fan, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, ".");
    close(open("watched", O_CREAT | O_RDWR, 0600));
    unlink("watched");
}

static void handler(int sig) {}

static void signals(void) {
    struct sigaction sa = {.sa_handler = handler};
    for (int i = 1; i < 64; i++) sigaction(i, &sa, 0);
    for (int i = 34; i < 64; i++) raise(i);
    kill(getpid(), SIGUSR1);
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, 0);
    raise(SIGUSR2);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    struct signalfd_siginfo info;
    read(fd, &info, sizeof info);
    struct itimerval it = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &it, 0);
    struct timespec ts = {0, 5000000};
    sigtimedwait(&set, 0, &ts);
    setitimer(ITIMER_VIRTUAL, &it, 0);
    setitimer(ITIMER_PROF, &it, 0);
    for (volatile int i = 0; i < 3000000; i++) {
    }
    timer_t timer;
    struct sigevent sev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_create(CLOCK_REALTIME, &sev, &timer);
    struct itimerspec its = {{0, 1000000}, {0, 1000000}};
    timer_settime(timer, 0, &its, 0);
    usleep(5000);
    timer_delete(timer);
    pid_t pid = fork();
    if (pid == 0) pause();
    usleep(2000);
    kill(pid, SIGSTOP);
    kill(pid, SIGCONT);
    kill(pid, SIGKILL);
    waitpid(pid, 0, WUNTRACED);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(pid, 0, 0);
    ptrace(PTRACE_SYSCALL, pid, 0, 0);
    waitpid(pid, 0, 0);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    kill(pid, SIGKILL);
    waitpid(pid, 0, 0);
    pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        sigprocmask(SIG_UNBLOCK, &set, 0);
        *(volatile char *)0 = 1;
    }
    waitpid(pid, 0, 0);
}

static void network(void) {
    char buf[65536] = {0};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = sizeof in;
    for (int v6 = 0; v6 < 2; v6++) {
        struct sockaddr *to = v6 ? (void *)&in6 : (void *)&in;
        len = v6 ? sizeof in6 : sizeof in;
        int l = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
        if (bind(l, to, len)) continue;
        listen(l, 5);
        getsockname(l, to, &len);
        for (int i = 0; i < 5; i++) {
            int c = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
            int one = 1;
            setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            connect(c, to, len);
            int a = accept4(l, 0, 0, 0);
            for (int j = 0; j < 20; j++) {
                send(c, buf, 20000, MSG_DONTWAIT);
                recv(a, buf, sizeof buf, MSG_DONTWAIT);
            }
            if (i == 2) {
                struct linger lin = {1, 0};
                setsockopt(c, SOL_SOCKET, SO_LINGER, &lin, sizeof lin);
            }
            shutdown(a, SHUT_WR);
            close(c);
            close(a);
        }
        int none = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
        close(l);
        connect(none, to, len);
        close(none);
        int u = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in6 from = in6;
        bind(u, to, len);
        for (int i = 0; i < 20; i++) {
            sendto(u, buf, 1000 * (i % 3 + 1), 0, to, len);
            recv(u, buf, sizeof buf, MSG_DONTWAIT);
        }
        for (int i = 0; i < 600; i++) sendto(u, buf, 1400, MSG_DONTWAIT, to, len);
        close(u);
        sendto(socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), buf, 10, 0, to, len);
    }
    int s[2];
    for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
        socketpair(AF_UNIX, type, 0, s);
        send(s[0], buf, 100, 0);
        recv(s[1], buf, 100, 0);
        struct iovec iov = {buf, 100};
        struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        sendmsg(s[0], &msg, 0);
        recvmsg(s[1], &msg, 0);
        close(s[0]);
        close(s[1]);
    }
    int nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    struct {
        struct nlmsghdr head;
        char rest[64];
    } req = {{.nlmsg_len = 32, .nlmsg_type = 18, .nlmsg_flags = NLM_F_REQUEST | 0x300}};
    send(nl, &req, 32, 0);
    recv(nl, buf, sizeof buf, MSG_DONTWAIT);
    int raw = socket(AF_PACKET, SOCK_RAW, htons(3));
    close(raw);
    int icmp = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    unsigned char echo[8] = {8, 0, 0xf7, 0xff};
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sendto(icmp, echo, 8, 0, (void *)&in, sizeof in);
}

static void scheduler(void) {
    cpu_set_t set;
    for (int round = 0; round < 10; round++) {
        for (int cpu = 0; cpu < 4; cpu++) {
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            sched_setaffinity(0, sizeof set, &set);
            for (volatile int i = 0; i < 10000; i++) {
            }
        }
    }
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < 64; cpu++) CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    nice(1);
    setpriority(PRIO_PROCESS, 0, 3);
    struct sched_param param = {.sched_priority = 1};
    sched_setscheduler(0, SCHED_FIFO, &param);
    sched_yield();
    sched_setscheduler(0, SCHED_RR, &param);
    usleep(1000);
    param.sched_priority = 0;
    sched_setscheduler(0, SCHED_BATCH, &param);
    sched_setscheduler(0, SCHED_OTHER, &param);
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    pthread_mutex_t m;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&m, &attr);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    prctl(PR_SET_NAME, "renamed");
    prctl(PR_SET_TIMERSLACK, 100000);
    execl("/bin/true", "true", (char *)0);
    execl("/proc/self/exe", "load", "--nothing", (char *)0);
}

static void ipc(void) {
    int id = shmget(IPC_PRIVATE, 65536, 0600 | IPC_CREAT);
    char *at = shmat(id, 0, 0);
    at[0] = 1;
    shmdt(at);
    shmctl(id, IPC_RMID, 0);
    int msg = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    struct {
        long type;
        char text[16];
    } m = {1, "hello"};
    msgsnd(msg, &m, 16, 0);
    msgrcv(msg, &m, 16, 0, 0);
    msgctl(msg, IPC_RMID, 0);
    int sem = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    struct sembuf op = {0, 1, 0};
    semop(sem, &op, 1);
    semctl(sem, 0, IPC_RMID);
    uint32_t word = 1;
    struct timespec ts = {0, 1000000};
    syscall(SYS_futex, &word, FUTEX_WAIT, 1, &ts, 0, 0);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    long key = syscall(SYS_add_key, "user", "k", "v", 1, -3);
    syscall(SYS_keyctl, 3, key);
}

static void uring(void) {
    struct io_uring_params params = {0};
    int fd = syscall(SYS_io_uring_setup, 8, &params);
    if (fd < 0) return;
    char *sq = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
    struct io_uring_sqe *sqes = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
    int file = open("uring", O_RDWR | O_CREAT, 0600);
    static char buf[8192];
    struct iovec iov = {buf, 4096};
    struct __kernel_timespec ts = {0, 1000000};
    int ops[] = {IORING_OP_NOP, IORING_OP_WRITEV, IORING_OP_READV, IORING_OP_FSYNC, IORING_OP_TIMEOUT, IORING_OP_POLL_ADD,
                 IORING_OP_READ, IORING_OP_CLOSE, 77};
    for (int i = 0; i < 9; i++) {
        unsigned *tail = (unsigned *)(sq + params.sq_off.tail);
        unsigned mask = *(unsigned *)(sq + params.sq_off.ring_mask);
        unsigned *array = (unsigned *)(sq + params.sq_off.array);
        unsigned at = *tail & mask;
        memset(&sqes[at], 0, sizeof sqes[at]);
        sqes[at].opcode = ops[i];
        sqes[at].fd = ops[i] == IORING_OP_CLOSE ? dup(file) : file;
        sqes[at].addr = ops[i] == IORING_OP_TIMEOUT ? (uintptr_t)&ts : ops[i] == IORING_OP_READ ? (uintptr_t)buf : (uintptr_t)&iov;
        sqes[at].len = ops[i] == IORING_OP_READ ? 4096 : 1;
        sqes[at].flags = i == 1 ? IOSQE_IO_LINK : i == 6 ? IOSQE_ASYNC : 0;
        if (ops[i] == IORING_OP_NOP || ops[i] == IORING_OP_FSYNC) sqes[at].addr = sqes[at].len = 0;
        if (ops[i] == IORING_OP_CLOSE) sqes[at].addr = sqes[at].len = 0;
        array[at] = at;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        syscall(SYS_io_uring_enter, fd, 1, i == 8 ? 0 : 1, IORING_ENTER_GETEVENTS, 0, 0);
    }
    syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &iov, 1);
    int files[1] = {file};
    syscall(SYS_io_uring_register, fd, IORING_REGISTER_FILES, files, 1);
    close(fd);
    unlink("uring");
}

static void bpf(void) {
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 8, .max_entries = 8};
    int map = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
    uint32_t key = 1;
    uint64_t value = 2;
    union bpf_attr update = {.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)&value};
    syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof update);
    syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &update, sizeof update);
    struct bpf_insn prog[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0}, {.code = BPF_JMP | BPF_EXIT}};
    union bpf_attr load = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2, .insns = (uintptr_t)prog, .license = (uintptr_t)"GPL"};
    int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load);
    int s[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
    setsockopt(s[1], SOL_SOCKET, 50 /* SO_ATTACH_BPF */, &fd, sizeof fd);
    send(s[0], "x", 1, 0);
    struct sock_filter filter[] = {{0x06, 0, 0, 0xffff}};
    struct sock_fprog fprog = {1, filter};
    setsockopt(s[0], SOL_SOCKET, SO_ATTACH_FILTER, &fprog, sizeof fprog);
    struct perf_event_attr perf = {.type = PERF_TYPE_SOFTWARE, .size = sizeof perf, .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 100000};
    int p = syscall(SYS_perf_event_open, &perf, 0, -1, -1, 0);
    ioctl(p, PERF_EVENT_IOC_ENABLE, 0);
    for (volatile int i = 0; i < 1000000; i++) {
    }
    close(p);
}

static void spaces(void) {
    unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP);
    mount("none", "/", 0, MS_REC | MS_PRIVATE, 0);
    mkdir("mnt", 0755);
    if (mount("tmpfs", "mnt", "tmpfs", 0, "size=1m") == 0) {
        close(open("mnt/x", O_CREAT | O_RDWR, 0600));
        umount("mnt");
    }
    if (mount("cgroup2", "mnt", "cgroup2", 0, 0) == 0) {
        mkdir("mnt/rtrace-load", 0755);
        int fd = open("mnt/rtrace-load/cgroup.procs", O_WRONLY);
        write(fd, "0", 1);
        close(fd);
        rename("mnt/rtrace-load", "mnt/rtrace-load2");
        fd = open("mnt/rtrace-load2/cgroup.freeze", O_WRONLY);
        write(fd, "0", 1);
        close(fd);
        fd = open("mnt/cgroup.procs", O_WRONLY);
        write(fd, "0", 1);
        close(fd);
        // Where cgroups cannot be renamed it has its first name.
        rmdir("mnt/rtrace-load");
        rmdir("mnt/rtrace-load2");
        umount("mnt");
    }
    rmdir("mnt");
    struct {
        uint64_t a, b, c;
    } attr = {0};
    int lo = socket(AF_INET, SOCK_DGRAM, 0);
    struct {
        char name[16];
        short flags;
        char rest[22];
    } ifr = {"lo", 0x1 | 0x8 | 0x40};
    ioctl(lo, 0x8914 /* SIOCSIFFLAGS */, &ifr);
    network();
    unshare(CLONE_NEWUSER | CLONE_NEWPID);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, 0, 0);
}

static int number;

/* Those that would not come back, or that mean something with any arguments. */
static int is_left_out(int nr) {
    static const int out[] = {SYS_vhangup, SYS_reboot, SYS_kexec_load, SYS_sync, SYS_vfork, SYS_fork, SYS_clone, SYS_rt_sigreturn};
    for (unsigned i = 0; i < sizeof out / sizeof *out; i++)
        if (out[i] == nr) return 1;
    return 0;
}

static void one_call(void) {
    struct itimerval it = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &it, 0);
    syscall(number, -1L, -1L, -1L, -1L, -1L, -1L);
}

static void calls(void) {
    for (number = 0; number < 480; number++) {
        if (is_left_out(number)) continue;
        in_child(one_call, 1);
    }
}

/* All that a ring buffer's file holds now; cat(1) would wait for more. */
static int drain(const char *from, const char *to) {
    static char page[65536];
    int in = open(from, O_RDONLY | O_NONBLOCK), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t n;
    while ((n = read(in, page, sizeof page)) > 0)
        if (write(out, page, n) != n) return 1;
    return in < 0 || out < 0 || (n < 0 && errno != EAGAIN);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--nothing") == 0) return 0;
    if (argc > 3 && strcmp(argv[1], "--drain") == 0) return drain(argv[2], argv[3]);
    if (argc > 1 && chdir(argv[1])) return 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (argc > 3) size = (size_t)atoi(argv[3]) << 20;
    setvbuf(stdout, 0, _IONBF, 0);
    for (int i = 0; i < rounds; i++) {
        in_child(files, 60);
        in_child(memory, 60);
        in_child(pipes, 10);
        in_child(signals, 10);
        in_child(network, 20);
        in_child(scheduler, 20);
        in_child(ipc, 10);
        in_child(uring, 10);
        in_child(bpf, 10);
        in_child(spaces, 20);
        in_child(compaction, 20);
        in_child(calls, 120);
    }
    return 0;
}
