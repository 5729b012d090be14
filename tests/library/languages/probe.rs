//! The probe language offline: what kernels took and refused, printing and parsing.

use super::captured::writes;
use proptest::prelude::*;
use rtrace::probe::Probe;

#[test]
fn the_kernels_verdicts_are_ours() {
    // Well-formed, and refused because of what this system has: symbols, files, the function's size, BTF.
    let of_the_system = [
        "p:x nosuchfunction",
        "p vfs_read+999999",
        "p vfs_read a=@nosuchsym",
        "p:x /nosuch:0x10",
        "p:x /bin:0x10",
        "e:x sched.nosuch",
        "e:x sched.sched_switch a=$nofield",
        "f:x nosuch",
        "r vfs_read+4",
        "p vfs_read count",
        "f:x vfs_read count",
        "t:x nosuchtp",
    ];
    let mut seen = 0;
    for kernel in ["6.1", "6.12"] {
        for write in writes(kernel) {
            let text = write.data.as_str();
            if !matches!(write.file.as_str(), "kprobe_events" | "uprobe_events" | "dynamic_events")
                || text.starts_with('-')
            {
                continue;
            }
            seen += 1;
            let verdict = text.parse::<Probe>();
            if of_the_system.contains(&text) {
                assert!(verdict.is_ok(), "{text}: {verdict:?}");
            } else {
                assert_eq!(verdict.is_ok(), write.accepted, "{kernel}: {text} {verdict:?}\n{}", write.log);
            }
        }
    }
    assert!(seen >= 70, "{seen}");
}

fn fetch() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "%di",
            "%ax",
            "$stack",
            "$stack7",
            "$arg1",
            "$arg2->x.y",
            "\\7",
            "count",
            "a->b.c",
            "@jiffies+8",
            "@0x10"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 6, 1, |inner| {
        (prop::sample::select(vec!["+", "-", "+u", "-u"]), 0u32..9999, inner)
            .prop_map(|(sign, offset, inner)| format!("{sign}{offset}({inner})"))
    })
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(
        head in prop::sample::select(vec![
            "p", "p:name", "p:g/name", "r:g/name", "r12:g/name",
        ]),
        place in prop::sample::select(vec!["vfs_read", "vfs_read+8", "ext4:ext4_sync", "/bin/sh:0x1234", "/a:1(0x8)", "0x1000"]),
        args in prop::collection::vec((fetch(), prop::sample::select(vec!["", ":u8", ":x64[3]", ":b1@2/8", ":symbol"])), 0..4),
    ) {
        let mut text = format!("{head} {place}");
        for (i, (fetch, kind)) in args.iter().enumerate() {
            text.push_str(&format!(" v{i}={fetch}{kind}"));
        }
        prop_assume!(!(head == "r12:g/name" && place.contains('/')));
        // A program's parameters have no names, and the kernel's symbols are not its.
        prop_assume!(!(place.contains('/') && ["count", "a->", "jiffies"].iter().any(|name| text.contains(name))));
        let probe: Probe = text.parse().map_err(|e: rtrace::syntax::Diagnostic| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(probe.to_string().parse(), Ok(probe));
    }

    #[test]
    fn no_text_is_a_panic(text in "[pretfu][:a-z/0-9]{0,6} [a-z_0-9 :%$@+\\-=()é\"\\\\\\[\\]]{0,40}") {
        let _ = text.parse::<Probe>();
    }
}

/// As Linux 7.3 took them.
#[test]
fn casts_to_structures() {
    for line in [
        "e:e2 kmem.kmalloc p=(kmem_cache)$ptr->size",
        "e:e3 kmem.kmalloc p=(kmem_cache)ptr->size",
        "e:e5 kmem.kmem_cache_free p=(list_head)ptr->next->prev",
        "e:e6 kmem.kmem_cache_free p=(sk_buff,next)$ptr->len",
        "e:e7 kmem.kmem_cache_free p=+0((list_head)ptr->next):x64",
        "f:f2 vfs_read f=(file)file->f_mode",
        "f:f3 vfs_read f=(dentry)(file->f_path.dentry)->d_flags n=$current",
        "p:k1 vfs_read f=(file)$arg1->f_mode",
        "p:k2 vfs_read f=(file)(%di)->f_mode c=(task_struct)$current->pid",
    ] {
        let probe: Probe = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(probe.to_string(), line);
    }
    for line in [
        "p:x vfs_read f=(file)$arg1",
        "p:x vfs_read f=(file$arg1->f_mode",
        "p:x vfs_read f=()$arg1->f_mode",
        "p:x vfs_read f=(file)(%di->f_mode",
        "p:x vfs_read f=(file)->f_mode",
        "p:x /bin/sh:0x10 f=(file)(%di)->f_mode",
    ] {
        assert!(line.parse::<Probe>().is_err(), "{line}");
    }
}
