/* What a guest's shell cannot do itself.
 *
 *   helper user DEFINITION N   registers a user event ("mine u32 number; char[20] name"), says so on stderr, and writes it N
 *                              times, whenever it is enabled, for ten minutes at most
 *   helper perf ID             has a perf session of the tracepoint ID until it is killed
 *   helper pty N CMD...        runs CMD on a terminal of 100x24, presses Ctrl-C when it has drawn N pictures (each ends with
 *                              "erase below"), shows what CMD wrote and ends as it did
 *   helper ping ADDRESS PORT N N times: kill(2) with signal 0, a byte to the server there, a byte back
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/tcp.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/user_events.h, which older headers lack. */
struct user_reg {
    uint32_t size;
    uint8_t enable_bit, enable_size;
    uint16_t flags;
    uint64_t enable_addr, name_args;
    uint32_t write_index;
} __attribute__((packed));
#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg *)

static int user(const char *definition, unsigned count) {
    static volatile uint32_t enabled;
    int fd = open("/sys/kernel/tracing/user_events_data", O_RDWR);
    struct user_reg reg = {.size = sizeof reg, .enable_bit = 31, .enable_size = 4};
    reg.enable_addr = (uintptr_t)&enabled;
    reg.name_args = (uintptr_t)definition;
    if (fd < 0 || ioctl(fd, DIAG_IOCSREG, &reg) < 0) {
        perror("user_events_data");
        return 1;
    }
    fputs("registered\n", stderr);
    unsigned written = 0;
    for (int tries = 0; written < count && tries < 60000; tries++) {
        if (!enabled) {
            usleep(10000);
            continue;
        }
        uint32_t number = written * 7;
        char name[20] = "helper";
        struct iovec parts[] = {{&reg.write_index, 4}, {&number, 4}, {name, sizeof name}};
        if (writev(fd, parts, 3) < 0) {
            perror("writev");
            return 1;
        }
        written++;
    }
    printf("%u\n", written);
    return 0;
}

static int perf(unsigned id) {
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = id};
    attr.sample_period = 1;
    if (syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) < 0) {
        perror("perf_event_open");
        return 1;
    }
    pause();
    return 0;
}

static int pty(int pictures, char **command) {
    static const char end[] = "\33[J";
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    int terminal, status, matched = 0;
    pid_t child = forkpty(&terminal, 0, 0, &size);
    if (child < 0) {
        perror("forkpty");
        return 1;
    }
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    char text[4096];
    for (ssize_t n; (n = read(terminal, text, sizeof text)) > 0;) {
        fwrite(text, 1, n, stdout);
        for (ssize_t i = 0; i < n; i++) {
            matched = text[i] == end[matched] ? matched + 1 : text[i] == end[0];
            if (end[matched])
                continue;
            matched = 0;
            if (--pictures == 0 && write(terminal, "\3", 1) < 0)
                perror("Ctrl-C");
        }
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int ping(const char *address, int port, unsigned count) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (fd < 0 || inet_pton(AF_INET, address, &server.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&server, sizeof server) < 0) {
        perror("connect");
        return 1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (char byte = 'x'; count > 0; count--) {
        kill(getpid(), 0);
        if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1) {
            perror("ping");
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "ping"))
        return ping(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (argc == 4 && !strcmp(argv[1], "user"))
        return user(argv[2], atoi(argv[3]));
    if (argc == 3 && !strcmp(argv[1], "perf"))
        return perf(atoi(argv[2]));
    if (argc > 3 && !strcmp(argv[1], "pty"))
        return pty(atoi(argv[2]), argv + 3);
    return 2;
}
