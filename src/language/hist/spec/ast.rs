//! The tree of a hist trigger.
//! Features of a kernel's hist triggers.

use crate::base::syntax::Spanned;

/// `hist:keys=...[:vals=...][:VAR=EXPR...][:sort=...][:size=N][:HANDLER.ACTION] [if FILTER]`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistSpec {
    /// `name=N`: triggers of one name share one table.
    pub name: Option<Spanned<String>>,
    /// `keys=K[,K..]`: what makes an entry; one to three.
    pub keys: Vec<Spanned<HistExpr>>,
    /// `vals=V[,V..]`: sums kept per entry. `hitcount` among them is only a word, it is always counted.
    pub vals: Vec<Spanned<HistExpr>>,
    /// `VAR=EXPR[,VAR=EXPR..]`, in the order written.
    pub vars: Vec<Assign>,
    /// `sort=F[.descending][,F..]`: at most two; empty means by hitcount, ascending.
    pub sort: Vec<Spanned<SortKey>>,
    /// `size=N`: number of entries there is room for; the kernel rounds up to a power of two (128 to 131,072).
    pub size: Option<Spanned<u64>>,
    /// `clock=C`: the trace clock that the use of `common_timestamp` sets.
    pub clock: Option<Spanned<String>>,
    /// `nohitcount`: the plain hitcount column is not shown (since Linux 6.3).
    pub no_hitcount: bool,
    /// `pause`, `cont` or `clear`: what to do with an equal trigger that is already there.
    pub control: Option<Control>,
    /// `HANDLER.ACTION`, in order.
    pub actions: Vec<Spanned<HandlerAction>>,
    /// The text after ` if `, in the kernel's filter language.
    pub filter: Option<Spanned<String>>,
}

/// `pause`, `cont[inue]`, `clear`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Stop counting; on a new trigger: start paused.
    Pause,
    /// Count on.
    Continue,
    /// Forget what was counted.
    Clear,
}

/// `ts0=common_timestamp.usecs`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assign {
    /// The variable's name, without `$`.
    pub name: Spanned<String>,
    /// The value that it is set to at each event.
    pub value: Spanned<HistExpr>,
}

/// A key, a value, or what a variable is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistExpr {
    /// `1000`, `0x10`
    Number(u64),
    /// `next_pid`, `call_site.sym-offset`, `common_timestamp.usecs`, `hitcount.percent`
    Field {
        /// The field's name, or one of the kernel's special names (`common_cpu`, `common_stacktrace`, `hitcount`...).
        name: String,
        /// Format or class of the key.
        modifier: Option<KeyModifier>,
    },
    /// `$ts0`, `sched.sched_waking.$ts0`
    Var(VarRef),
    /// `-(a+b)`: only as the outermost form.
    Neg(Box<Spanned<HistExpr>>),
    /// `a-b`
    Binary {
        /// The operation, on unsigned 64-bit numbers.
        op: BinaryOp,
        /// The left operand.
        left: Box<Spanned<HistExpr>>,
        /// The right operand.
        right: Box<Spanned<HistExpr>>,
    },
}

/// A reference to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarRef {
    /// System and event of the trigger that defines it, if named.
    pub event: Option<(String, String)>,
    /// Its name, without `$`.
    pub name: String,
}

/// The word after a field's dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyModifier {
    /// `.hex`: shown in base 16.
    Hex,
    /// `.sym`: an address, shown as a function's name.
    Sym,
    /// `.sym-offset`: an address, shown as name, offset and size.
    SymOffset,
    /// `.syscall`: a number, shown as a system call's name.
    Syscall,
    /// `.execname`: `common_pid` with the comm of the task.
    Execname,
    /// `.log2`: classes of powers of two; class n holds 2^(n-1) < v <= 2^n.
    Log2,
    /// `.buckets=N`: classes of N numbers.
    Buckets(u64),
    /// `.usecs`: `common_timestamp` in microseconds instead of nanoseconds.
    Usecs,
    /// `.stacktrace`: a field of `long`s, shown as a stack (since Linux 6.3).
    Stacktrace,
    /// `.percent`: a value as its share of the total (since Linux 6.3).
    Percent,
    /// `.graph`: a value as a bar (since Linux 6.3).
    Graph,
}

/// An operation of [`HistExpr::Binary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`, before `+` and `-`
    Mul,
    /// `/`, before `+` and `-`; by zero gives all ones
    Div,
}

/// `bytes_req.descending`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// A key, a value or `hitcount`, without modifier.
    pub field: String,
    /// Largest first.
    pub descending: bool,
}

/// `onmax($lat).save(next_comm)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerAction {
    /// The handler: `onmatch`, `onmax` or `onchange`.
    pub when: Reaction,
    /// The action: `trace`, `save` or `snapshot`.
    pub what: Do,
}

/// The handler: when an action runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// `onmatch(sched.sched_waking)`: when all variables of the trigger were found.
    OnMatch {
        /// System and event whose trigger set the variables.
        event: Spanned<(String, String)>,
    },
    /// `onmax($lat)`: when the variable exceeds what it ever was in this entry.
    OnMax(Spanned<String>),
    /// `onchange($st)`: when the variable is not what it was in this entry.
    OnChange(Spanned<String>),
}

/// The action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    /// `trace(wakeup_latency,$lat,next_pid)`, or `wakeup_latency($lat,next_pid)`: fires a synthetic event.
    Trace {
        /// The synthetic event.
        event: Spanned<String>,
        /// One for each of its fields.
        args: Vec<Spanned<ActionArg>>,
        /// True if it is written with the word `trace`.
        keyword: bool,
    },
    /// `save(next_comm,prev_pid)`: keeps these fields with the entry.
    Save(Vec<Spanned<ActionArg>>),
    /// `snapshot()`: takes a snapshot of the instance's buffer.
    Snapshot,
}

/// An argument of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionArg {
    /// `$lat`, `sched.sched_waking.$ts0`
    Var(VarRef),
    /// `next_comm`
    Field(String),
    /// `sched.sched_waking.prio`: a field of a matched event.
    Other {
        /// System and event.
        event: (String, String),
        /// The field's name.
        field: String,
    },
}

impl HistExpr {
    /// A field without modifier.
    pub fn field(name: impl Into<String>) -> HistExpr {
        HistExpr::Field { name: name.into(), modifier: None }
    }

    /// A field with a modifier.
    pub fn with(name: impl Into<String>, modifier: KeyModifier) -> HistExpr {
        HistExpr::Field { name: name.into(), modifier: Some(modifier) }
    }

    /// `$name`
    pub fn var(name: impl Into<String>) -> HistExpr {
        HistExpr::Var(VarRef { event: None, name: name.into() })
    }

    /// `left op right`
    pub fn binary(op: BinaryOp, left: HistExpr, right: HistExpr) -> HistExpr {
        HistExpr::Binary { op, left: Box::new(left.into()), right: Box::new(right.into()) }
    }

    /// Calls `visit` for this node and all below it, outermost first; `place` is this node's own.
    pub(crate) fn walk<'a>(
        &'a self,
        place: crate::base::syntax::Span,
        visit: &mut impl FnMut(&'a HistExpr, crate::base::syntax::Span),
    ) {
        visit(self, place);
        match self {
            HistExpr::Neg(inner) => inner.value.walk(inner.span, visit),
            HistExpr::Binary { left, right, .. } => {
                left.value.walk(left.span, visit);
                right.value.walk(right.span, visit);
            }
            HistExpr::Number(_) | HistExpr::Field { .. } | HistExpr::Var(_) => {}
        }
    }
}

impl HistSpec {
    /// All expressions: keys, values, what variables are set to.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Spanned<HistExpr>> {
        self.keys.iter().chain(&self.vals).chain(self.vars.iter().map(|v| &v.value))
    }

    /// True if it reads `common_timestamp`, which sets the instance's trace clock.
    pub fn uses_timestamp(&self) -> bool {
        let mut found = false;
        for expr in self.exprs() {
            expr.walk(expr.span, &mut |e, _| {
                found |= matches!(e, HistExpr::Field { name, .. } if name == "common_timestamp");
            });
        }
        found
    }
}

/// Differences between kernels, as their own `README` file lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// There are hist triggers at all (`CONFIG_HIST_TRIGGERS`).
    pub hist: bool,
    /// There are synthetic events (`CONFIG_SYNTH_EVENTS`).
    pub synth: bool,
    /// `nohitcount`, and `.percent` and `.graph` on values (Linux 6.3; documented since 6.2, but refused).
    pub no_hitcount: bool,
    /// `common_stacktrace`, `.stacktrace`, and stacks in variables (Linux 6.3); before: `stacktrace`, keys only.
    pub common_stacktrace: bool,
    /// `.buckets=N` (Linux 5.15).
    pub buckets: bool,
    /// Numbers, `*` and `/` in expressions (Linux 5.17).
    pub arithmetic: bool,
    /// `onmatch`, `onmax`, `onchange` with their actions (Linux 4.17 to 5.2).
    pub actions: bool,
    /// `snapshot()` (`CONFIG_TRACER_SNAPSHOT`).
    pub snapshot: bool,
}

impl Features {
    /// A kernel that can do everything known here.
    pub const ALL: Features = Features {
        hist: true,
        synth: true,
        no_hitcount: true,
        common_stacktrace: true,
        buckets: true,
        arithmetic: true,
        actions: true,
        snapshot: true,
    };

    /// From the text of tracefs's `README`, which the kernel assembles from what it was built with.
    pub fn from_readme(readme: &str) -> Features {
        Features {
            hist: readme.contains("hist trigger\t- If set"),
            synth: readme.contains("events/synthetic_events"),
            no_hitcount: readme.contains("[:nohitcount]"),
            common_stacktrace: readme.contains("'common_stacktrace'"),
            buckets: readme.contains(".buckets=size"),
            arithmetic: readme.contains("multiplication(*)"),
            actions: readme.contains("onmatch("),
            snapshot: readme.contains("snapshot()"),
        }
    }
}
