/* Events whose print formats have each helper and each kind of %p once. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rtrace_forms
#if !defined(RTRACE_FORMS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RTRACE_FORMS_TRACE_H
#include <linux/tracepoint.h>

TRACE_EVENT(forms_numbers,
	TP_PROTO(long n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(long, n)
		__field(int, i)
		__field(short, s)
		__field(signed char, c)
		__field(unsigned char, u)
		__field(unsigned long long, q)
		__field(bool, b)),
	TP_fast_assign(__entry->n = n; __entry->i = n; __entry->s = n; __entry->c = n; __entry->u = n; __entry->q = n; __entry->b = n & 1;),
	TP_printk("[%s] [%ld] [%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%#o] [%#010x] [%.5d] [%8.3d] [%.0d] [%08.3d] [%hd] [%hhd] [%hhu] [%hx] [%c] [%5c] [%-5c] [%llx] [%llu] [%lX] [%d%%] [%*d] [%-*d] [%zu] [%u] [%d] [%lu]",
		__entry->b ? "yes" : "no", __entry->n, __entry->i, __entry->i, __entry->i, __entry->i, __entry->i, __entry->i, __entry->i, __entry->i, __entry->i,
		__entry->i, __entry->i, __entry->i, __entry->s, __entry->c, __entry->u, __entry->s, __entry->u | 64, 'a', 'b', __entry->q, __entry->q, __entry->n,
		__entry->b, 7, __entry->i, 7, __entry->s, sizeof(__entry->q),
		__entry->i ? (__entry->i > 0 ? __entry->c : __entry->s) : -1, (int)(__entry->u << 3) - (__entry->s >> 1),
		(unsigned long)__entry->i)
);

TRACE_EVENT(forms_strings,
	TP_PROTO(const char *text),
	TP_ARGS(text),
	TP_STRUCT__entry(
		__string(text, text)
		__array(char, fixed, 16)
		__rel_string(rel, text)),
	TP_fast_assign(
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
		__assign_str(text, text);
		__assign_rel_str(rel, text);
#else
		__assign_str(text);
		__assign_rel_str(rel);
#endif
		strncpy(__entry->fixed, text, 15); __entry->fixed[15] = 0;),
	TP_printk("[%s] [%20s] [%-20s] [%.3s] [%8.3s] [%-*s] [%.*s] [%s] [%s]", __get_str(text), __get_str(text), __get_str(text), __get_str(text),
		__get_str(text), 10, __entry->fixed, 4, __entry->fixed, __entry->fixed, __get_rel_str(rel))
);

TRACE_EVENT(forms_net,
	TP_PROTO(const u8 *raw),
	TP_ARGS(raw),
	TP_STRUCT__entry(
		__array(u8, mac, 6)
		__array(u8, ip4, 4)
		__array(u8, ip6, 16)
		__array(u8, in4, sizeof(struct sockaddr_in))
		__array(u8, in6, sizeof(struct sockaddr_in6))),
	TP_fast_assign(
		struct sockaddr_in *in4 = (void *)__entry->in4;
		struct sockaddr_in6 *in6 = (void *)__entry->in6;
		memcpy(__entry->mac, raw, 6);
		memcpy(__entry->ip4, raw + 2, 4);
		memcpy(__entry->ip6, raw, 16);
		memset(in4, 0, sizeof(*in4));
		memset(in6, 0, sizeof(*in6));
		in4->sin_family = AF_INET; in4->sin_port = cpu_to_be16(8080); memcpy(&in4->sin_addr, raw + 2, 4);
		in6->sin6_family = AF_INET6; in6->sin6_port = cpu_to_be16(443); memcpy(&in6->sin6_addr, raw, 16);
		in6->sin6_flowinfo = cpu_to_be32(0x12345); in6->sin6_scope_id = 3;),
	TP_printk("M=%pM m=%pm MR=%pMR mR=%pmR MF=%pMF I4=%pI4 i4=%pi4 I4h=%pI4h I4n=%pI4n I4b=%pI4b I4l=%pI4l I6=%pI6 i6=%pi6 I6c=%pI6c IS=%pIS ISp=%pISp iS=%piS 6IS=%pIS 6ISc=%pISc 6ISpc=%pISpc 6ISpfsc=%pISpfsc 6ISs=%pISs 6ISf=%pISf ISh=%pISh ISphn=%pISphn [%20pM] [%-20pI4] [%30pI6c]",
		__entry->mac, __entry->mac, __entry->mac, __entry->mac, __entry->mac, __entry->ip4, __entry->ip4, __entry->ip4, __entry->ip4,
		__entry->ip4, __entry->ip4, __entry->ip6, __entry->ip6, __entry->ip6, __entry->in4, __entry->in4, __entry->in4, __entry->in6,
		__entry->in6, __entry->in6, __entry->in6, __entry->in6, __entry->in6, __entry->in4, __entry->in4, __entry->mac, __entry->ip4, __entry->ip6)
);

TRACE_EVENT(forms_bytes,
	TP_PROTO(const u8 *raw, const unsigned long *bits),
	TP_ARGS(raw, bits),
	TP_STRUCT__entry(
		__array(u8, raw, 20)
		__array(unsigned long, bits, 2)
		__bitmask(mask, 70)
		__dynamic_array(u16, dyn, 5)
		__array(u32, words, 3)
		__array(u64, quads, 2)),
	TP_fast_assign(
		memcpy(__entry->raw, raw, 20);
		memcpy(__entry->bits, bits, sizeof(__entry->bits));
		__assign_bitmask(mask, bits, 70);
		memcpy(__get_dynamic_array(dyn), raw, 10);
		memcpy(__entry->words, raw, 12);
		memcpy(__entry->quads, raw, 16);),
	TP_printk("Ub=%pUb UB=%pUB Ul=%pUl UL=%pUL U=%pU h=%*ph hC=%*phC hD=%*phD hN=%*phN 6ph=%6ph b=%*pb bl=%*pbl mask=%s hex=%s str=%s a8=%s a16=%s a32=%s a64=%s dump=%s",
		__entry->raw, __entry->raw, __entry->raw, __entry->raw, __entry->raw, 5, __entry->raw, 5, __entry->raw, 5, __entry->raw, 5,
		__entry->raw, __entry->raw, 70, __entry->bits, 70, __entry->bits, __get_bitmask(mask), __print_hex(__entry->raw, 7),
		__print_hex_str(__entry->raw, 7), __print_array(__entry->raw, 4, 1), __print_array(__get_dynamic_array(dyn), __get_dynamic_array_len(dyn) / 2, 2),
		__print_array(__entry->words, 3, 4), __print_array(__entry->quads, 2, 8),
		__print_hex_dump("dump: ", DUMP_PREFIX_OFFSET, 16, 1, __entry->raw, 20, true))
);

TRACE_EVENT(forms_pointers,
	TP_PROTO(void *code, long error),
	TP_ARGS(code, error),
	TP_STRUCT__entry(
		__field(void *, code)
		__field(void *, error)
		__field(unsigned long, ul)),
	TP_fast_assign(__entry->code = code; __entry->error = (void *)error; __entry->ul = (unsigned long)code;),
	TP_printk("S=%pS s=%ps B=%pB SR=%pSR x=%px e=%pe e=%pe S=%pS s=%ps x=%px [%40pS] [%-30ps] [%20px] [%-20px] K=%pK null=%p err=%p",
		__entry->code, __entry->code, __entry->code, __entry->code, (void *)(__entry->ul & 0xffff), __entry->error, __entry->code - __entry->ul,
		(void *)0x10, (void *)0x20, (void *)0x1234, __entry->code, __entry->code, (void *)0x1234, (void *)0x1234, NULL, NULL, __entry->error)
);

TRACE_EVENT(forms_tables,
	TP_PROTO(unsigned long value),
	TP_ARGS(value),
	TP_STRUCT__entry(
		__field(unsigned long, value)
		__field(u64, wide)
		__field(int, small)),
	TP_fast_assign(__entry->value = value; __entry->wide = (u64)value << 36; __entry->small = (int)value - 2;),
	TP_printk("flags=%s none=%s bar=%s symbol=%s other=%s wide=%s wides=%s negative=%s",
		__print_flags(__entry->value, "|", {1, "ONE"}, {2, "TWO"}, {12, "TWELVE"}, {16, "SIXTEEN"}),
		__print_flags(__entry->value & 64, "|", {1, "ONE"}),
		__print_flags(__entry->value, " + ", {3, "THREE"}, {1, "ONE"}, {4, "FOUR"}),
		__print_symbolic(__entry->value, {1, "one"}, {2, "two"}, {3, "three"}),
		__print_symbolic(__entry->value + 100, {1, "one"}),
		__print_flags_u64(__entry->wide, "|", {1ULL << 36, "W36"}, {1ULL << 37, "W37"}),
		__print_symbolic_u64(__entry->wide, {1ULL << 36, "w36"}, {2ULL << 36, "w37"}),
		__print_symbolic(__entry->small, {-2, "minus two"}, {-1, "minus one"}, {0, "zero"}))
);

TRACE_EVENT(forms_fetched,
	TP_PROTO(struct dentry *dentry, struct file *file, gfp_t gfp, unsigned long vma, time64_t seconds),
	TP_ARGS(dentry, file, gfp, vma, seconds),
	TP_STRUCT__entry(
		__field(gfp_t, gfp)
		__field(unsigned long, vma)
		__field(s64, seconds)
		__field(u64, nanos)),
	TP_fast_assign(__entry->gfp = gfp; __entry->vma = vma; __entry->seconds = seconds; __entry->nanos = seconds * 1000 + 7;),
	TP_printk("Gg=%pGg Gv=%pGv tT=%ptT tTd=%ptTd tTt=%ptTt tTs=%ptTs tTr=%ptTr secs=%llu.%09u",
		&__entry->gfp, &__entry->vma, &__entry->seconds, &__entry->seconds, &__entry->seconds, &__entry->seconds, &__entry->seconds,
		__print_ns_to_secs(__entry->nanos), __print_ns_without_secs(__entry->nanos))
);
#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rtrace_forms_trace
#include <trace/define_trace.h>
