//! The compiler's state, and its limits.
//! Constants that kernels leave as names in their print formats.

use crate::base::abi::Abi;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::ast::{CExpr, CType};
use crate::kernel::print_fmt::expr::Ex;
use crate::kernel::print_fmt::{PrintFmtError, Semantics};
use crate::kernel::symbols::Symbols;

/// No kernel's print format needs more nodes than this; names bound in nested statement expressions could ask for 2^n.
const BUDGET: usize = 20_000;

/// State of the compiler while it compiles one event's print format.
pub(super) struct PrintFmtCompiler<'a> {
    pub(super) event: &'a EventFormat,
    pub(super) abi: Abi,
    pub(super) semantics: Semantics,
    pub(super) symbols: &'a Symbols,
    /// Names that statement expressions have bound, innermost last; with the number of nodes they stand for.
    pub(super) scope: Vec<(String, Ex, CType, usize)>,
    /// Tables that they have bound, innermost last.
    pub(super) tables: Vec<(String, Vec<CExpr>)>,
    pub(super) spent: usize,
    /// True in the argument of a `%p`.
    pub(super) in_address: bool,
}

/// Number of names bound before a statement expression.
#[derive(Clone, Copy)]
pub(super) struct ScopeDepth {
    pub(super) scope: usize,
    pub(super) tables: usize,
}

impl PrintFmtCompiler<'_> {
    pub(super) fn depth(&self) -> ScopeDepth {
        ScopeDepth { scope: self.scope.len(), tables: self.tables.len() }
    }

    pub(super) fn unbind(&mut self, depth: ScopeDepth) {
        self.scope.truncate(depth.scope);
        self.tables.truncate(depth.tables);
    }

    pub(super) fn kernel(&self) -> bool {
        self.semantics == Semantics::Kernel
    }

    pub(super) fn spend(&mut self, nodes: usize) -> Result<(), PrintFmtError> {
        self.spent = self.spent.saturating_add(nodes);
        if self.spent > BUDGET { Err(PrintFmtError::TooLarge) } else { Ok(()) }
    }
}

/// True of names that the kernel's style has for enumerators and macros, not for variables.
pub(super) fn is_enumerator(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The value of an enum constant that some kernel does not translate to its number.
pub(super) fn constant(name: &str) -> Option<u64> {
    Some(match name {
        "true" => 1,
        "false" | "NULL" => 0,
        // include/linux/interrupt.h, in the order of the softirq vectors
        "HI_SOFTIRQ" => 0,
        "TIMER_SOFTIRQ" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" | "BLOCK_IOPOLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        "HRTIMER_NORESTART" => 0,
        "HRTIMER_RESTART" => 1,
        _ => return None,
    })
}

/// More of them, which libtraceevent does not know either (it takes them for 0) but the kernel of course does: for files that
/// say nothing of them ([`Enumerators`](crate::kernel::btf::Enumerators)).
/// `mode=REL|HARD` of `timer:hrtimer_init`, `be,0,4` of `block:block_rq_issue`.
pub(super) fn kernel_constant(name: &str) -> Option<u64> {
    Some(match name {
        // include/linux/hrtimer.h: ABS, REL 1, PINNED 2, SOFT 4, HARD 8
        "HRTIMER_MODE_ABS" => 0,
        "HRTIMER_MODE_REL" => 1,
        "HRTIMER_MODE_PINNED" | "HRTIMER_MODE_ABS_PINNED" => 2,
        "HRTIMER_MODE_REL_PINNED" => 3,
        "HRTIMER_MODE_SOFT" | "HRTIMER_MODE_ABS_SOFT" => 4,
        "HRTIMER_MODE_REL_SOFT" => 5,
        "HRTIMER_MODE_ABS_PINNED_SOFT" => 6,
        "HRTIMER_MODE_REL_PINNED_SOFT" => 7,
        "HRTIMER_MODE_HARD" | "HRTIMER_MODE_ABS_HARD" => 8,
        "HRTIMER_MODE_REL_HARD" => 9,
        "HRTIMER_MODE_ABS_PINNED_HARD" => 10,
        "HRTIMER_MODE_REL_PINNED_HARD" => 11,
        // include/uapi/linux/ioprio.h
        "IOPRIO_CLASS_NONE" => 0,
        "IOPRIO_CLASS_RT" => 1,
        "IOPRIO_CLASS_BE" => 2,
        "IOPRIO_CLASS_IDLE" => 3,
        "IOPRIO_CLASS_INVALID" => 7,
        // include/linux/pm_qos.h, enum pm_qos_req_action
        "PM_QOS_ADD_REQ" => 0,
        "PM_QOS_UPDATE_REQ" => 1,
        "PM_QOS_REMOVE_REQ" => 2,
        // include/net/tcp_states.h
        "TCP_ESTABLISHED" => 1,
        "TCP_SYN_SENT" => 2,
        "TCP_SYN_RECV" => 3,
        "TCP_FIN_WAIT1" => 4,
        "TCP_FIN_WAIT2" => 5,
        "TCP_TIME_WAIT" => 6,
        "TCP_CLOSE" => 7,
        "TCP_CLOSE_WAIT" => 8,
        "TCP_LAST_ACK" => 9,
        "TCP_LISTEN" => 10,
        "TCP_CLOSING" => 11,
        "TCP_NEW_SYN_RECV" => 12,
        // include/linux/nvme.h
        "nvme_fabrics_command" => 0x7f,
        // arch/x86/include/asm/paravirt_types.h
        "PARAVIRT_LAZY_NONE" => 0,
        "PARAVIRT_LAZY_MMU" => 1,
        "PARAVIRT_LAZY_CPU" => 2,
        // arch/x86/include/asm/xen/hypervisor.h, Linux 6.7
        "XEN_LAZY_NONE" => 0,
        "XEN_LAZY_MMU" => 1,
        "XEN_LAZY_CPU" => 2,
        // include/linux/mm.h, Linux 7.0
        "VMA_SHARED_BIT" => 3,
        // include/trace/events/xen.h
        "XEN_MC_XE_OK" => 0,
        "XEN_MC_XE_BAD_OP" => 1,
        "XEN_MC_XE_NO_SPACE" => 2,
        "XEN_MC_FL_NONE" => 0,
        "XEN_MC_FL_BATCH" => 1,
        "XEN_MC_FL_ARGS" => 2,
        "XEN_MC_FL_CALLBACK" => 3,
        // include/scsi/scsi_cmnd.h
        "SCSI_PROT_NORMAL" => 0,
        "SCSI_PROT_READ_INSERT" => 1,
        "SCSI_PROT_WRITE_STRIP" => 2,
        "SCSI_PROT_READ_STRIP" => 3,
        "SCSI_PROT_WRITE_INSERT" => 4,
        "SCSI_PROT_READ_PASS" => 5,
        "SCSI_PROT_WRITE_PASS" => 6,
        // include/scsi/scsi_status.h; 0x10 to 0x13 until Linux 6.0
        "DID_OK" => 0x00,
        "DID_NO_CONNECT" => 0x01,
        "DID_BUS_BUSY" => 0x02,
        "DID_TIME_OUT" => 0x03,
        "DID_BAD_TARGET" => 0x04,
        "DID_ABORT" => 0x05,
        "DID_PARITY" => 0x06,
        "DID_ERROR" => 0x07,
        "DID_RESET" => 0x08,
        "DID_BAD_INTR" => 0x09,
        "DID_PASSTHROUGH" => 0x0a,
        "DID_SOFT_ERROR" => 0x0b,
        "DID_IMM_RETRY" => 0x0c,
        "DID_REQUEUE" => 0x0d,
        "DID_TRANSPORT_DISRUPTED" => 0x0e,
        "DID_TRANSPORT_FAILFAST" => 0x0f,
        "DID_TARGET_FAILURE" => 0x10,
        "DID_NEXUS_FAILURE" => 0x11,
        "DID_ALLOC_FAILURE" => 0x12,
        "DID_MEDIUM_ERROR" => 0x13,
        "DID_TRANSPORT_MARGINAL" => 0x14,
        // include/scsi/scsi_proto.h
        "SAM_STAT_GOOD" => 0x00,
        "SAM_STAT_CHECK_CONDITION" => 0x02,
        "SAM_STAT_CONDITION_MET" => 0x04,
        "SAM_STAT_BUSY" => 0x08,
        "SAM_STAT_INTERMEDIATE" => 0x10,
        "SAM_STAT_INTERMEDIATE_CONDITION_MET" => 0x14,
        "SAM_STAT_RESERVATION_CONFLICT" => 0x18,
        "SAM_STAT_COMMAND_TERMINATED" => 0x22,
        "SAM_STAT_TASK_SET_FULL" => 0x28,
        "SAM_STAT_ACA_ACTIVE" => 0x30,
        "SAM_STAT_TASK_ABORTED" => 0x40,
        _ => return None,
    })
}
