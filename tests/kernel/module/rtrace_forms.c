/* Says what the kernel makes of each conversion: by trace_printk() and by events of its own, whenever anything is
 * written to /sys/module/rtrace_forms/parameters/say. */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/rtc.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/time.h>
#include <linux/uuid.h>
#include <linux/version.h>
#define CREATE_TRACE_POINTS
#include "rtrace_forms_trace.h"

static char text[] = "a text in memory";
static struct resource place = {.name = "place", .start = 0x1000, .end = 0x1fff, .flags = IORESOURCE_MEM};
static const u8 raw[20] = {0x52, 0x54, 0, 0x12, 0xfe, 0xff, 0, 0, 0, 0, 0, 11, 12, 13, 14, 0x7f, 'a', 'b', 18, 0xc4};
static const u8 zeros[20] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 2, 15, 0, 0, 0, 0};
static const u8 link_local[20] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x5e, 0xfe, 192, 168, 0, 1, 0, 0, 0, 0};

static noinline void say_printk(void)
{
	int width = 12, precision = 3, n = -42;
	struct path root;
	struct rtc_time tm;
	time64_t seconds = 1700000000;
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO;
	unsigned long vma = VM_READ | VM_EXEC | VM_MAYREAD;
	struct file *file;

	trace_printk("plain text without anything\n");
	trace_printk("%s\n", "constant");
	trace_printk("%d %i %u %x %X %o %c%%\n", n, n, 42, 0xbeef, 0xbeef, 0755, 'z');
	trace_printk("%ld %lu %lx %lld %llu %llx %zd %zu %td\n", -1L, 2UL, 3UL, -4LL, 5ULL, 6ULL, (ssize_t)-7, (size_t)8, (ptrdiff_t)-9);
	trace_printk("%hd %hu %hx %hhd %hhu %hhx\n", (short)-2, 65535, 0xabcd, (signed char)-3, 255, 0x7f);
	trace_printk("[%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%#o] [%#010x]\n", n, n, n, 42, 42, 0xff, 8, 0xab);
	trace_printk("[%*d] [%-*d] [%.*s] [%.3s] [%10s] [%-10s] [%*.*s]\n", width, n, width, n, precision, text, text, "right", "left", width, precision, text);
	trace_printk("[%.5d] [%8.3d] [%.0d] [%5c] [%-5c]\n", n, n, 0, 'a', 'b');
	trace_printk("%s %s\n", text, (char *)NULL);
	trace_printk("%pS %ps %pB %pSR\n", (void *)schedule, (void *)schedule, (void *)schedule + 5, (void *)say_printk);
	trace_printk("%px %px %p\n", (void *)0xdeadbeef, NULL, NULL);
	trace_printk("%pM %pm %pMR %pmR %pMF\n", raw, raw, raw, raw, raw);
	trace_printk("%pI4 %pi4 %pI4h %pI6 %pi6 %pI6c %pI6c\n", raw, raw, raw, raw, raw, raw, zeros);
	trace_printk("%pUb %pUB %pUl %pUL %pU\n", raw, raw, raw, raw, raw);
	trace_printk("%*ph|%*phC|%*phD|%*phN|%6ph|%d\n", 5, raw, 5, raw, 5, raw, 5, raw, raw, 77);
	trace_printk("%*pb %*pbl %d\n", 70, (unsigned long *)raw, 70, (unsigned long *)raw, 78);
	trace_printk("%pe %pe %pe\n", ERR_PTR(-EINVAL), ERR_PTR(-ENOENT), ERR_PTR(-4000));
	trace_printk("%pGg %pGv\n", &gfp, &vma);
	rtc_time64_to_tm(seconds, &tm);
	trace_printk("%ptR %ptRd %ptRt %ptT %ptTd %ptTt %ptTs %ptTr\n", &tm, &tm, &tm, &seconds, &seconds, &seconds, &seconds, &seconds);
	trace_printk("%pr %pR %pa\n", &place, &place, &place.start);
	if (!kern_path("/proc/sys/kernel", 0, &root)) {
		trace_printk("%pd %pd2 %pd3 %pd4\n", root.dentry, root.dentry, root.dentry, root.dentry);
		path_put(&root);
	}
	file = filp_open("/bin/busybox", O_RDONLY, 0);
	if (!IS_ERR(file)) {
		trace_printk("%pD %pD2\n", file, file);
		filp_close(file, NULL);
	}
	trace_printk("[%20px] [%-20px] [%40pS] [%-20ps] [%20pI4]\n", (void *)0x1234, (void *)0x1234, (void *)schedule, (void *)schedule, raw);
	trace_puts("a text of puts\n");
	trace_puts(text);
}

static noinline void events(void)
{
	static const long numbers[] = {0, 1, -1, 42, -42, 127, 128, 255, 256, 65535, 0x7fffffff, LONG_MIN, LONG_MAX};
	static const char *const texts[] = {"", "a", "a text that is longer than all else"};
	static const u8 *const bytes[] = {raw, zeros, link_local};
	unsigned long bits[2] = {0xf0000000000000e7, 0x3};
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		trace_forms_numbers(numbers[i]);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		trace_forms_strings(texts[i]);
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		trace_forms_net(bytes[i]);
		trace_forms_bytes(bytes[i], i ? (unsigned long *)bytes[i] : bits);
	}
	trace_forms_pointers((void *)schedule + 1, -EINVAL);
	trace_forms_pointers((void *)schedule, -517);
	trace_forms_pointers((void *)say_printk + 9, -4000);
	for (i = 0; i < 32; i += i < 6 ? 1 : 7)
		trace_forms_tables(i);
	trace_forms_fetched(NULL, NULL, GFP_KERNEL | __GFP_ZERO, VM_READ | VM_MAYREAD, 1700000000);
	trace_forms_fetched(NULL, NULL, GFP_ATOMIC, VM_WRITE | VM_SHARED | VM_LOCKED | 1ul << 63, 951782400);
	trace_forms_fetched(NULL, NULL, 0, 0, 0);
	trace_forms_fetched(NULL, NULL, __GFP_DMA | GFP_NOWAIT, VM_HUGETLB | VM_PFNMAP, -1);
}

static int say(const char *value, const struct kernel_param *param)
{
	say_printk();
	events();
	return 0;
}

static const struct kernel_param_ops ops = {.set = say};
module_param_cb(say, &ops, NULL, 0200);

static int __init start(void)
{
	return 0;
}

static void __exit stop(void)
{
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
