/* gcc -gbtf -x c -c - <functions.c -o functions.o && objcopy --set-section-flags .BTF=alloc -O binary -j .BTF functions.o functions.btf (gcc 12) */
typedef long long loff_t;
typedef unsigned long size_t;
typedef _Bool bool;
struct file { int fd; };
union value { int i; char *s; };
enum whence { SET, CUR = -1 };
typedef int (*actor_t)(const struct file *file, void *const data, ...);

long vfs_read(struct file *file, char *buf, size_t count, loff_t *pos) { return count + *buf + *pos + file->fd; }
void nothing(void) { }
bool seek(struct file *file, enum whence whence, union value value) { return file->fd + whence == value.i; }
int iterate(const char *const *names, int (*rows)[3], actor_t actor, int (*plain)(unsigned char)) {
	return actor((struct file *)names, rows[0]) + plain(0);
}
const char *name_of(const volatile struct file *restrict file, ...) { return file->fd ? "" : 0; }
