//! A filter of the kernel's language to a program over recorded events.

use super::check::{NamedTarget, TargetKind, resolve};
use super::pattern::TextPattern;
use super::test::{NumberAt, ProgramTest, ProgramTree, TextAt};
use super::{CompareOp, Filter, FilterExpr, FilterProgram, FilterValue, Predicate};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, parse_int};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::FunctionAddresses;
use std::ops::Range;

pub(super) fn compile(
    filter: &Filter,
    format: &EventFormat,
    abi: Abi,
    functions: &dyn FunctionAddresses,
) -> Result<FilterProgram, Diagnostic> {
    let compiler = FilterCompiler { filter, format, functions };
    Ok(FilterProgram::new(compiler.tree(filter.expr())?, abi))
}

struct FilterCompiler<'a> {
    filter: &'a Filter,
    format: &'a EventFormat,
    functions: &'a dyn FunctionAddresses,
}

impl FilterCompiler<'_> {
    fn tree(&self, expr: &FilterExpr) -> Result<ProgramTree, Diagnostic> {
        let all = |parts: &[FilterExpr]| parts.iter().map(|part| self.tree(part)).collect::<Result<Vec<_>, _>>();
        Ok(match expr {
            FilterExpr::And(parts) => ProgramTree::And(all(parts)?),
            FilterExpr::Or(parts) => ProgramTree::Or(all(parts)?),
            FilterExpr::Not(inner) => ProgramTree::Not(Box::new(self.tree(inner)?)),
            FilterExpr::Predicate(predicate) => self.predicate(predicate)?,
        })
    }

    fn predicate(&self, p: &Predicate) -> Result<ProgramTree, Diagnostic> {
        let target = resolve(self.filter, p, self.format)?;
        let at = NumberAt { offset: target.offset, size: target.size, signed: target.signed };
        let op = p.op.value;
        // The kernel has no way to compare numbers of another size: whatever the operator, the event is dropped.
        let comparable = matches!(target.size, 1 | 2 | 4 | 8);
        Ok(match &p.value.value {
            FilterValue::Text(text) => self.text(p, target, text)?,
            FilterValue::Function(name) => {
                let function = self.function(p, name)?;
                let within = ProgramTree::Test(ProgramTest::Within { at: NumberAt { signed: false, ..at }, function });
                if op == CompareOp::NotEqual { ProgramTree::Not(Box::new(within)) } else { within }
            }
            FilterValue::Number { value, .. } if target.kind == TargetKind::Cpu => {
                ProgramTree::Test(ProgramTest::Cpu { op, value: *value as i32 })
            }
            FilterValue::Number { value, .. } if comparable => {
                ProgramTree::Test(ProgramTest::Number { at, op, value: at.cut(*value as u64) })
            }
            FilterValue::Cpus(list) if target.kind == TargetKind::CpuMask => {
                let at = TextAt::DataLoc { offset: target.offset };
                ProgramTree::Test(ProgramTest::CpuMask { at, op, list: list.clone() })
            }
            FilterValue::Cpus(list) if target.kind == TargetKind::Cpu => {
                ProgramTree::Test(ProgramTest::CpuIn { at: None, op, list: list.clone() })
            }
            FilterValue::Cpus(list) if comparable => {
                let at = NumberAt { signed: false, ..at };
                ProgramTree::Test(ProgramTest::CpuIn { at: Some(at), op, list: list.clone() })
            }
            FilterValue::Number { .. } | FilterValue::Cpus(_) => ProgramTree::Const(false),
        })
    }

    fn text(&self, p: &Predicate, target: NamedTarget, text: &str) -> Result<ProgramTree, Diagnostic> {
        let mut pattern =
            if p.op.value == CompareOp::Glob { TextPattern::glob(text) } else { TextPattern::literal(text) };
        pattern.negated ^= p.op.value == CompareOp::NotEqual;
        let offset = target.offset;
        let at = match target.kind {
            TargetKind::Comm => return Ok(ProgramTree::Test(ProgramTest::Comm { pattern })),
            TargetKind::DataLocText => TextAt::DataLoc { offset },
            TargetKind::RelLocText => TextAt::RelLoc { offset },
            TargetKind::PointerText => {
                let name = &p.field.value;
                let message = format!("`{name}` is a pointer: the text behind it is not in the record");
                return Err(Diagnostic::new("filter", self.filter.text(), p.field.span, message)
                    .hint("the kernel can follow the pointer: `rtrace record -e EVENT -f FILTER` has it filter what is recorded"));
            }
            _ => TextAt::Fixed { offset, size: target.size },
        };
        Ok(ProgramTree::Test(ProgramTest::Text { at, pattern }))
    }

    fn function(&self, p: &Predicate, name: &str) -> Result<Range<u64>, Diagnostic> {
        let found = match name.starts_with(|c: char| c.is_ascii_digit()) {
            true => parse_int(name).ok().and_then(|a| self.functions.around(u64::try_from(a).ok()?)),
            false => self.functions.by_name(name),
        };
        found.ok_or_else(|| {
            Diagnostic::new("filter", self.filter.text(), p.value.span, format!("function `{name}` not found"))
        })
    }
}
