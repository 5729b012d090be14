//! The function_graph tracer: calls, nested, with their durations.

use super::{NumberField, args, put_arguments};
use crate::base::text::num;
use crate::kernel::event::Consumed;
use crate::kernel::event::{Common, DecodeOptions, GraphOptions, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbol;

/// `  12.345 us   |    func();` for a call without traced calls within, `  |    func() {` for others.
pub(in crate::kernel::event) struct Entry {
    func: NumberField,
    depth: NumberField,
    retaddr: Option<NumberField>,
    args: Option<usize>,
    options: GraphOptions,
    /// The event that ends a call: its id and fields.
    exit: Option<(u16, GraphExit, Common)>,
}

/// `  12.345 us   |    }`
#[derive(Clone)]
pub(in crate::kernel::event) struct GraphExit {
    func: NumberField,
    depth: NumberField,
    calltime: NumberField,
    rettime: NumberField,
    retval: Option<NumberField>,
    options: GraphOptions,
}

const INDENT: usize = 2;

impl Entry {
    pub(super) fn new(event: &EventFormat, options: &DecodeOptions) -> Option<Self> {
        Some(Entry {
            func: NumberField::field(event, "func")?,
            depth: NumberField::field(event, "depth")?,
            retaddr: NumberField::field(event, "retaddr"),
            args: args(event),
            options: options.graph,
            exit: None,
        })
    }

    pub(super) fn link(&mut self, id: u16, exit: GraphExit, common: Common) {
        self.exit = Some((id, exit, common));
    }

    pub(super) fn write(
        &self,
        cx: &Context<'_>,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        out: &mut Vec<u8>,
    ) -> Consumed {
        let leaf = next.filter(|next| self.is_leaf(cx, record, next));
        let func = self.func.get(cx);
        let depth = self.depth.get(cx);
        let symbol = cx.symbols.kallsyms.lookup(func);
        let Some((exit, end)) = self.exit.as_ref().zip(leaf) else {
            out.extend_from_slice(&[b' '; 2 + 11]);
            out.extend_from_slice(b"|  ");
            indent(out, depth);
            self.call(cx, func, symbol, out);
            self.caller(cx, out);
            out.extend_from_slice(b" {");
            self.depth_note(depth, out);
            return Consumed::One;
        };
        let end = Context { data: end.data, ..*cx };
        exit.1.duration(&end, out);
        indent(out, depth);
        self.call(cx, func, symbol, out);
        out.push(b';');
        self.caller(cx, out);
        exit.1.retval(&end, out);
        self.depth_note(depth, out);
        Consumed::Two
    }

    fn is_leaf(&self, cx: &Context<'_>, record: &Record<'_>, next: &Record<'_>) -> bool {
        let Some((id, exit, common)) = &self.exit else { return false };
        let after = Context { data: next.data, ..*cx };
        next.cpu == record.cpu
            && common.event_id(cx.abi, next.data) == *id
            && common.pid(cx.abi, next.data) == common.pid(cx.abi, record.data)
            && exit.func.get(&after) == self.func.get(cx)
    }

    /// `func(arguments)`
    fn call(&self, cx: &Context<'_>, func: u64, symbol: Option<Symbol<'_>>, out: &mut Vec<u8>) {
        let Some(symbol) = symbol else {
            num::hex(out, func);
            out.extend_from_slice(b"()");
            return;
        };
        out.extend_from_slice(symbol.name);
        out.push(b'(');
        put_arguments(cx, (symbol.address, symbol.name), self.args, out);
        out.push(b')');
    }

    fn caller(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let Some(retaddr) = self.retaddr else { return };
        let address = retaddr.get(cx);
        out.extend_from_slice(b" /* <-");
        match cx.symbols.kallsyms.lookup(address) {
            Some(symbol) => out.extend_from_slice(symbol.name),
            None => num::hex(out, address),
        }
        out.extend_from_slice(b" */");
    }

    fn depth_note(&self, depth: u64, out: &mut Vec<u8>) {
        if self.options.depth {
            note_depth(depth, out);
        }
    }
}

impl GraphExit {
    pub(super) fn new(event: &EventFormat, options: &DecodeOptions) -> Option<Self> {
        Some(GraphExit {
            func: NumberField::field(event, "func")?,
            depth: NumberField::field(event, "depth")?,
            calltime: NumberField::field(event, "calltime")?,
            rettime: NumberField::field(event, "rettime")?,
            retval: NumberField::field(event, "retval"),
            options: options.graph,
        })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let depth = self.depth.get(cx);
        self.duration(cx, out);
        indent(out, depth);
        out.push(b'}');
        if self.options.tail
            && let Some(symbol) = cx.symbols.kallsyms.lookup(self.func.get(cx))
        {
            out.extend_from_slice(b" /* ");
            out.extend_from_slice(symbol.name);
            out.extend_from_slice(b" */");
        }
        self.retval(cx, out);
        if self.options.depth {
            note_depth(depth, out);
        }
    }

    /// Overhead sign and duration: `# 1234.567 us |  `.
    fn duration(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let duration = self.rettime.get(cx).wrapping_sub(self.calltime.get(cx));
        out.extend_from_slice(match duration {
            1_000_000_001.. => b"$ ",
            1_000_001.. => b"# ",
            100_001.. => b"! ",
            10_001.. => b"+ ",
            _ => b"  ",
        });
        let start = out.len();
        num::dec(out, duration / 1000);
        let digits = out.len().saturating_sub(start);
        if digits < 7 {
            out.push(b'.');
            num::dec_pad(out, duration % 1000, 3, b'0');
        }
        out.extend_from_slice(b" us ");
        out.resize(out.len().max(start.saturating_add(b"123.456 us ".len())), b' ');
        out.extend_from_slice(b"|  ");
    }

    /// ` (ret=0x10)`; small negative numbers, which are error codes, in decimal.
    fn retval(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let Some(retval) = self.retval.filter(|_| !self.options.retval_skip) else { return };
        let value = retval.get(cx);
        let signed = match cx.abi.long_size {
            4 => i64::from(value as i32),
            _ => value as i64,
        };
        out.extend_from_slice(b" (ret=");
        let error = (-4095..0).contains(&signed);
        if self.options.retval_dec || (error && !self.options.retval_hex) {
            num::signed(out, signed);
        } else {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
        }
        out.push(b')');
    }
}

/// A depth from a damaged record must not fill the memory.
const MAX_DEPTH: u64 = 1024;

fn indent(out: &mut Vec<u8>, depth: u64) {
    let columns = (depth.min(MAX_DEPTH) as usize).saturating_mul(INDENT);
    out.resize(out.len().saturating_add(columns), b' ');
}

fn note_depth(depth: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b" (");
    num::dec(out, depth);
    out.push(b')');
}
