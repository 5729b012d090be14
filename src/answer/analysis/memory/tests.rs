use super::{Memory, MemoryReport, PageCount};
use crate::answer::analysis::InOrder;
use crate::answer::analysis::test_formats::{format, number, record};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};

const KMALLOC: u16 = 1;
const KFREE: u16 = 2;
const ALLOC: u16 = 3;
const FREE: u16 = 4;

fn follow(events: &[(u64, i32, u16, &[i64])]) -> MemoryReport {
    let formats = [
        format("kmem", "kmalloc", KMALLOC, &["call_site", "ptr", "bytes_req", "bytes_alloc"], "\"\""),
        format("kmem", "kfree", KFREE, &["call_site", "ptr"], "\"\""),
        format("kmem", "mm_page_alloc", ALLOC, &["pfn", "order"], "\"\""),
        format("kmem", "mm_page_free", FREE, &["pfn", "order"], "\"\""),
    ];
    let mut memory = Memory::new(&formats, Abi::HOST);
    assert!(memory.has_events());
    for &(at, task, id, fields) in events {
        let fields: Vec<Vec<u8>> = fields.iter().map(|value| number(*value)).collect();
        let data = record(id, task, &fields);
        let record = Record { timestamp: Timestamp(at), cpu: CpuId(0), buffer: 0, lost: Lost::None, data: &data };
        memory.record(&record);
    }
    memory.finish()
}

#[test]
fn objects_live_from_allocation_to_free() {
    let report = follow(&[
        (1, 7, KFREE, &[0, 0x900]), // allocated before
        (2, 7, KFREE, &[0, 0]),     // of nothing
        (3, 7, KMALLOC, &[0x10, 0, 5, 0]),
        (4, 7, KMALLOC, &[0x10, 16, 0, 0]), // an object of no bytes
        (10, 7, KMALLOC, &[0x10, 0x100, 90, 96]),
        (12, 7, KMALLOC, &[0x10, 0x200, 60, 64]),
        (15, 7, KMALLOC, &[0x20, 0x300, 8, 8]),
        (20, 8, KFREE, &[0, 0x100]),
        (25, 7, KMALLOC, &[0x20, 0x200, 33, 64]), // the free is missing
    ]);
    let [first, second] = report.sites.as_slice() else { panic!("{:?}", report.sites) };
    assert_eq!((first.site, first.allocations, first.asked, first.taken, first.freed), (0x10, 2, 150, 160, 96));
    assert_eq!((first.lives.total(), first.live, first.live_taken, first.most), (10, 0, 0, 160));
    assert_eq!((second.site, second.allocations, second.live, second.live_taken), (0x20, 2, 2, 72));
    let counts = report.counts;
    assert_eq!((counts.frees, counts.replaced, counts.failed, report.window), (1, 1, 1, Some((1, 25))));
}

#[test]
fn pages_are_counted_in_blocks() {
    let report = follow(&[
        (1, 7, ALLOC, &[0x100, 0]),
        (2, 7, ALLOC, &[0x200, 2]),
        (3, 8, FREE, &[0x200, 2]),
        (4, 8, ALLOC, &[-1, 3]),
        (5, 8, FREE, &[0x100, 1]), // another block
    ]);
    assert_eq!(report.tasks, [(Pid(7), PageCount { allocations: 2, pages: 5, freed: 4, live: 1 })]);
    let orders: Vec<_> = report.orders.iter().map(|(order, count)| (*order, count.pages, count.live)).collect();
    assert_eq!(orders, [(0, 1, 1), (2, 4, 0)]);
    assert_eq!((report.counts.failed, report.counts.page_frees), (1, 1));
}
