//! What numbers mean to people: kallsyms, `printk_formats`, saved comms.
