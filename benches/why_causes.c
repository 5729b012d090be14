// Loads of which each keeps the task `victim` off its CPU for a known cause. All run on CPU 0 but where one needs another.
//   causes CAUSE
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void spin(double ms) { for (double end = now() + ms; now() < end;) ; }
static void nap(double ms) { usleep(ms * 1000); }
static void be(const char *name) { prctl(PR_SET_NAME, name); }
static void on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set)) { perror("affinity"); exit(3); }
}
static void fifo(int priority) {
  struct sched_param p = {priority};
  if (sched_setscheduler(0, SCHED_FIFO, &p)) { perror("fifo"); exit(3); }
}
static int join(const char *cgroup) {
  char path[512];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  int fd = open(path, O_WRONLY);
  if (fd < 0 || write(fd, "0", 1) != 1) { perror(path); exit(3); }
  return close(fd);
}
static int child(const char *name) {
  int pid = fork();
  if (!pid) be(name);
  return pid;
}
static void end(void) { while (wait(0) > 0) ; exit(0); }

// A task of real-time priority `priority` begins to spin while the victim, of priority 3, sleeps.
static void ranks(int priority, const char *name, double ms) {
  if (!child(name)) { on(0); fifo(priority); nap(10); spin(ms); _exit(0); }
  be("victim"); on(0); fifo(3);
  for (int i = 0; i < 12; i++) { nap(3); spin(1); }
  end();
}

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static void *holder2(void *p) { be("holder2"); fifo(3); pthread_mutex_lock(&m2); nap(5); spin(30); pthread_mutex_unlock(&m2); return 0; }
static void *holder1(void *p) { be("holder1"); fifo(3); nap(2); pthread_mutex_lock(&m1); pthread_mutex_lock(&m2); spin(10);
  pthread_mutex_unlock(&m2); pthread_mutex_unlock(&m1); return 0; }
static void *victim(void *p) { be("victim"); fifo(3); nap(4); pthread_mutex_lock(&m1); pthread_mutex_unlock(&m1); return 0; }

// A lock of the kernel: the inode's, which a long write to memory holds.
static char page[1 << 20];
static void inode(void) {
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/causes.%d", getpid());
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) { perror(path); exit(3); }
  unlink(path);
  size_t size = 128 << 20;
  char *from = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  memset(from, 1, size);
  int ready[2];
  if (pipe(ready)) exit(3);
  if (!child("holder")) {
    on(0); fifo(2);
    if (write(ready[1], "x", 1) != 1 || pwrite(fd, from, size, 0) < 0) perror("write");
    _exit(0);
  }
  be("victim"); on(0); fifo(3);
  char c;
  if (read(ready[0], &c, 1) != 1) exit(3);
  nap(4);
  if (pwrite(fd, "y", 1, 0) != 1) perror("write");
  end();
}

// So many timers for this task, each of which copies its stack.
static void timers(int count) {
  struct perf_event_attr often = {.type = PERF_TYPE_SOFTWARE, .size = sizeof often, .config = PERF_COUNT_SW_CPU_CLOCK,
                                  .sample_period = 10000, .sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 65528};
  for (int i = 0; i < count; i++) {
    int event = syscall(SYS_perf_event_open, &often, 0, -1, -1, 0);
    if (event < 0 || mmap(0, 129 * 4096, PROT_READ, MAP_SHARED, event, 0) == MAP_FAILED) { perror("perf_event_open"); exit(3); }
  }
}
static long turns(double ms) { long done = 0; for (double end = now() + ms; now() < end; done++) ; return done; }

// Timers take nearly all the time of the CPU, while `busy` runs and the victim waits. How many do so is tried first: with too
// many the kernel stops them for a while.
static void storm(void) {
  volatile char stack[65536];
  memset((void *)stack, 1, sizeof stack);
  int count, ready[2];
  if (!child("calibrate")) {
    on(0); fifo(10);
    int best = 0;
    for (long count = 1, least = turns(8); count <= 6; count++) {
      timers(1);
      long left = turns(8);
      if (left < least) { least = left; best = count; }
    }
    _exit(best);
  }
  if (wait(&count) < 0 || pipe(ready)) exit(3);
  if (!child("busy")) {
    on(0); fifo(10);
    timers(WEXITSTATUS(count));
    if (write(ready[1], "", 1) != 1) _exit(3);
    nap(10); spin(40);
    _exit(0);
  }
  be("victim"); on(0); fifo(3);
  char c;
  if (read(ready[0], &c, 1) != 1) exit(3);
  nap(12);
  end();
}

// Packets to ourselves, each for many sockets: a soft interrupt of the sender copies them.
static void packets(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("239.7.7.7"), .sin_port = htons(20000 + getpid() % 20000)};
  struct ip_mreqn of = {.imr_multiaddr = to.sin_addr, .imr_ifindex = 1};
  for (int i = 0; i < 200; i++) {
    int in = socket(AF_INET, SOCK_DGRAM, 0), yes = 1;
    setsockopt(in, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(in, (void *)&to, sizeof to) || setsockopt(in, IPPROTO_IP, IP_ADD_MEMBERSHIP, &of, sizeof of)) { perror("group"); exit(3); }
  }
  int out = socket(AF_INET, SOCK_DGRAM, 0);
  if (setsockopt(out, IPPROTO_IP, IP_MULTICAST_IF, &of, sizeof of)) { perror("lo"); exit(3); }
  if (!child("sender")) {
    on(0); fifo(10); nap(10);
    for (double until = now() + 40; now() < until;) sendto(out, page, 100, 0, (void *)&to, sizeof to);
    _exit(0);
  }
  be("victim"); on(0); fifo(3);
  for (int i = 0; i < 12; i++) { nap(3); spin(1); }
  end();
}

// A cgroup whose quota is used up. `busy`: another task has the CPU meanwhile.
static void quota(int busy) {
  const char *cgroup = getenv("CGROUP");
  if (busy && !child("neighbour")) { on(0); spin(1000); _exit(0); }
  be("victim"); on(0); join(cgroup);
  struct timespec used = {0};
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used); while (used.tv_nsec < 70000000);
  _exit(0);
}

int main(int count, char **words) {
  const char *cause = count > 1 ? words[1] : "";
  // Other tasks of the machine are no part of it: all but those of a quota are real-time from their begin on.
  on(0);
  if (strcmp(cause, "quota") && strcmp(cause, "neighbour")) fifo(3);
  if (fork()) { int status = 0; wait(&status); return WEXITSTATUS(status); }
#define CAUSE(name) if (!strcmp(cause, name))
  CAUSE("prio") ranks(10, "rtspin", 40);
  CAUSE("spin") ranks(3, "hog", 60);
  CAUSE("timer") ranks(10, "hog", 60);
  // While CPU 1 has nothing to do.
  CAUSE("affinity") ranks(10, "hog", 60);
  CAUSE("locks") {
    pthread_t t[3];
    on(0);
    pthread_create(t, 0, holder2, 0); usleep(500); pthread_create(t + 1, 0, holder1, 0); pthread_create(t + 2, 0, victim, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
  }
  int p[2], q[2];
  if (pipe(p) || pipe(q)) return 3;
  char x;
  CAUSE("waker") {
    if (!child("waker")) { on(0); fifo(3); spin(2); nap(50); spin(5); write(p[1], "x", 1); _exit(0); }
    be("victim"); on(0); fifo(3); read(p[0], &x, 1); end();
  }
  CAUSE("io") {
    be("victim"); on(0);
    char path[64];
    snprintf(path, sizeof path, "/var/tmp/causes.%d", getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) { perror(path); return 3; }
    unlink(path);
    for (int i = 0; i < 96; i++) { page[i] = i; write(fd, page, sizeof page); }
    fsync(fd);
    return 0;
  }
  CAUSE("nested") {
    on(0); fifo(3);
    if (!child("stageC")) { nap(20); spin(10); write(q[1], "x", 1); _exit(0); }
    if (!child("stageB")) { read(q[0], &x, 1); spin(5); write(p[1], "x", 1); _exit(0); }
    be("victim"); read(p[0], &x, 1); end();
  }
  CAUSE("preemptwaker") {
    on(0);
    if (!child("rtspin")) { fifo(20); nap(10); spin(30); _exit(0); }
    if (!child("waker")) { fifo(3); spin(25); write(p[1], "x", 1); _exit(0); }
    be("victim"); fifo(5); read(p[0], &x, 1); end();
  }
  CAUSE("child") {
    be("victim"); on(0); fifo(3);
    int kid = child("kid");
    if (!kid) { nap(10); spin(20); _exit(0); }
    waitpid(kid, 0, 0); return 0;
  }
  // The recorder reads the symbols of the kernel first: a system call of that takes as long as such a nap.
  CAUSE("softirq") { be("victim"); spin(60); on(0); for (int i = 0; i < 200; i++) nap(0.2); return 0; }
  CAUSE("inode") inode();
  CAUSE("storm") storm();
  CAUSE("packets") packets();
  CAUSE("quota") quota(0);
  CAUSE("neighbour") quota(1);
  return 2;
}
