//! The tree back to the text that the kernel takes.

use super::{
    ActionArg, BinaryOp, Control, Do, HandlerAction, HistExpr, HistSpec, KeyModifier, Reaction, SortKey, VarRef,
};
use std::fmt::{self, Display, Formatter};

/// Items with commas between.
fn list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for HistSpec {
    /// The text to write to a `trigger` file, without a newline.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("hist:")?;
        if let Some(name) = &self.name {
            write!(f, "name={name}:")?;
        }
        f.write_str("keys=")?;
        list(f, &self.keys)?;
        if !self.vals.is_empty() {
            f.write_str(":vals=")?;
            list(f, &self.vals)?;
        }
        if !self.vars.is_empty() {
            f.write_str(":")?;
            list(f, &self.vars)?;
        }
        if !self.sort.is_empty() {
            f.write_str(":sort=")?;
            list(f, &self.sort)?;
        }
        if let Some(size) = &self.size {
            write!(f, ":size={size}")?;
        }
        if let Some(clock) = &self.clock {
            write!(f, ":clock={clock}")?;
        }
        if self.no_hitcount {
            f.write_str(":nohitcount")?;
        }
        if let Some(control) = self.control {
            write!(f, ":{control}")?;
        }
        for action in &self.actions {
            write!(f, ":{action}")?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " if {filter}")?;
        }
        Ok(())
    }
}

impl Display for super::Assign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl Display for Control {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Control::Pause => "pause",
            Control::Continue => "cont",
            Control::Clear => "clear",
        })
    }
}

impl Display for HistExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            HistExpr::Number(n) => n.fmt(f),
            HistExpr::Field { name, modifier: None } => f.write_str(name),
            HistExpr::Field { name, modifier: Some(modifier) } => write!(f, "{name}.{modifier}"),
            HistExpr::Var(var) => var.fmt(f),
            HistExpr::Neg(inner) => write!(f, "-({inner})"),
            HistExpr::Binary { op, left, right } => write!(f, "{left}{op}{right}"),
        }
    }
}

impl Display for VarRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((system, event)) = &self.event {
            write!(f, "{system}.{event}.")?;
        }
        write!(f, "${}", self.name)
    }
}

impl Display for KeyModifier {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyModifier::Hex => "hex",
            KeyModifier::Sym => "sym",
            KeyModifier::SymOffset => "sym-offset",
            KeyModifier::Syscall => "syscall",
            KeyModifier::Execname => "execname",
            KeyModifier::Log2 => "log2",
            KeyModifier::Buckets(n) => return write!(f, "buckets={n}"),
            KeyModifier::Usecs => "usecs",
            KeyModifier::Stacktrace => "stacktrace",
            KeyModifier::Percent => "percent",
            KeyModifier::Graph => "graph",
        })
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
        })
    }
}

impl Display for SortKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.field)?;
        f.write_str(if self.descending { ".descending" } else { "" })
    }
}

impl Display for HandlerAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.when, self.what)
    }
}

impl Display for Reaction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Reaction::OnMatch { event } => write!(f, "onmatch({}.{})", event.0, event.1),
            Reaction::OnMax(var) => write!(f, "onmax(${var})"),
            Reaction::OnChange(var) => write!(f, "onchange(${var})"),
        }
    }
}

impl Display for Do {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Do::Trace { event, args, keyword: true } => {
                write!(f, "trace({event}")?;
                args.iter().try_for_each(|arg| write!(f, ",{arg}"))?;
            }
            Do::Trace { event, args, keyword: false } => {
                write!(f, "{event}(")?;
                list(f, args)?;
            }
            Do::Save(args) => {
                f.write_str("save(")?;
                list(f, args)?;
            }
            Do::Snapshot => f.write_str("snapshot(")?,
        }
        f.write_str(")")
    }
}

impl Display for ActionArg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ActionArg::Var(var) => var.fmt(f),
            ActionArg::Field(name) => f.write_str(name),
            ActionArg::Other { event: (system, event), field } => write!(f, "{system}.{event}.{field}"),
        }
    }
}
