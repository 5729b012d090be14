//! The text of a trigger to its tree.

use super::expr::{self, SpecPiece, expr, name, number};
use super::{
    ActionArg, Assign, Control, Do, HandlerAction, HistSpec, Reaction, SortKey, SpecError, SpecErrorKind as Kind,
};
use crate::base::syntax::{Span, Spanned, did_you_mean};
use std::str::FromStr;

type Result<T> = std::result::Result<T, SpecError>;

impl HistSpec {
    /// Parses what one would write to a `trigger` file: `hist:keys=...`.
    ///
    /// # Errors
    /// [`SpecError`] with the place in `text`.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text, false)
    }
}

impl FromStr for HistSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// Parses a trigger; in what the kernel `echoed`, sort fields carry their key's modifier.
pub(super) fn parse(text: &str, echoed: bool) -> Result<HistSpec> {
    if let Some(at) = text.find(['\n', '\0']) {
        return Err(SpecError::new(Kind::Newline, Span::new(at, at + 1)));
    }
    let whole = SpecPiece::new(text);
    let Some(body) = whole.strip_prefix("hist:") else {
        return Err(SpecError::new(Kind::NotHist, whole.span())
            .hint("As in `hist:keys=FIELD`; `rtrace hist` has `--key FIELD`."));
    };
    let (body, filter) = split_filter(body)?;
    let mut spec = HistSpec { filter, ..HistSpec::default() };
    for part in body.trim().split(':') {
        parse_part(&mut spec, part, echoed)?;
    }
    if spec.keys.is_empty() {
        return Err(SpecError::new(Kind::NoKeys, body.span()));
    }
    Ok(spec)
}

/// The first `if` with blanks on both sides ends the trigger.
fn split_filter(body: SpecPiece<'_>) -> Result<(SpecPiece<'_>, Option<Spanned<String>>)> {
    let bytes = body.text.as_bytes();
    let blank = |at: usize| matches!(bytes.get(at), Some(b' ' | b'\t'));
    for (at, _) in body.text.match_indices("if") {
        if at == 0 || !blank(at - 1) {
            continue;
        }
        if at + 2 == bytes.len() {
            return Err(SpecError::new(Kind::EmptyFilter, body.from(at).span()));
        }
        if blank(at + 2) {
            let filter = body.from(at + 3).trim();
            if filter.text.is_empty() {
                return Err(SpecError::new(Kind::EmptyFilter, body.from(at).span()));
            }
            return Ok((body.slice(0, at - 1), Some(filter.owned())));
        }
    }
    Ok((body, None))
}

fn parse_part(spec: &mut HistSpec, part: SpecPiece<'_>, echoed: bool) -> Result<()> {
    if let Some(rest) = assigned(part, &["keys", "key"])? {
        once(!spec.keys.is_empty(), "keys", part)?;
        let keys = rest.split(',').map(expr).collect::<Result<_>>();
        spec.keys = keys.map_err(|error| match of_bpftrace(rest.text) {
            Some(hint) => error.hint(hint),
            None => error,
        })?;
    } else if let Some(rest) = assigned(part, &["vals", "val", "values"])? {
        once(!spec.vals.is_empty(), "vals", part)?;
        spec.vals = rest.split(',').map(expr).collect::<Result<_>>()?;
    } else if let Some(rest) = assigned(part, &["sort"])? {
        once(!spec.sort.is_empty(), "sort", part)?;
        spec.sort = rest.split(',').map(|p| sort_key(p, echoed)).collect::<Result<_>>()?;
    } else if let Some(rest) = assigned(part, &["name"])? {
        once(spec.name.is_some(), "name", part)?;
        spec.name = Some(word(rest)?);
    } else if let Some(rest) = assigned(part, &["clock"])? {
        once(spec.clock.is_some(), "clock", part)?;
        spec.clock = Some(word(rest.trim())?);
    } else if let Some(rest) = assigned(part, &["size"])? {
        once(spec.size.is_some(), "size", part)?;
        spec.size = Some(Spanned::new(number(rest)?, rest.span()));
    } else if let Some(control) = control(part.text) {
        if spec.control.is_some_and(|c| c != control) {
            return Err(SpecError::new(Kind::Contradiction, part.span()));
        }
        spec.control = Some(control);
    } else if matches!(part.text, "nohitcount" | "NOHC") {
        spec.no_hitcount = true;
    } else if part.text.contains('(') && !part.text.contains('=') {
        spec.actions.push(Spanned::new(action(part)?, part.span()));
    } else if part.text.contains('=') {
        for one in part.split(',') {
            spec.vars.push(assignment(one, echoed)?);
        }
    } else if part.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("part"), part.span()));
    } else {
        let error = SpecError::new(Kind::UnknownPart(part.text.to_owned()), part.span());
        let words = ["keys=", "vals=", "sort=", "size=", "name=", "clock=", "pause", "cont", "clear", "nohitcount"];
        return Err(match did_you_mean(part.text, words) {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }
    Ok(())
}

/// The text after `WORD=`, if the part starts with one of the words.
fn assigned<'a>(part: SpecPiece<'a>, words: &[&str]) -> Result<Option<SpecPiece<'a>>> {
    let Some((word, rest)) = part.split_once('=') else { return Ok(None) };
    if !words.contains(&word.text) {
        return Ok(None);
    }
    if rest.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("assignment"), part.span()));
    }
    Ok(Some(rest))
}

fn once(already: bool, what: &'static str, part: SpecPiece<'_>) -> Result<()> {
    if already {
        return Err(SpecError::new(Kind::Twice(what), part.span()).hint("the kernel would use only one of them"));
    }
    Ok(())
}

fn control(word: &str) -> Option<Control> {
    match word {
        "pause" => Some(Control::Pause),
        "cont" | "continue" => Some(Control::Continue),
        "clear" => Some(Control::Clear),
        _ => None,
    }
}

/// The name of a histogram or a clock: anything without a blank that does not end the part.
fn word(piece: SpecPiece<'_>) -> Result<Spanned<String>> {
    if piece.text.is_empty() || piece.text.contains(|c: char| c.is_whitespace() || c.is_control() || "=,()".contains(c))
    {
        return Err(SpecError::new(Kind::BadName(piece.text.to_owned()), piece.span()));
    }
    Ok(piece.owned())
}

fn assignment(piece: SpecPiece<'_>, echoed: bool) -> Result<Assign> {
    let Some((variable, mut value)) = piece.split_once('=') else {
        return Err(SpecError::new(Kind::UnknownPart(piece.text.to_owned()), piece.span())
            .hint("after a comma another `VAR=EXPRESSION` is expected"));
    };
    if value.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("assignment"), piece.span()));
    }
    if value.text.starts_with('"') || value.text.contains('=') && !value.text.contains(".bucket") {
        return Err(SpecError::new(Kind::BadName(value.text.to_owned()), value.span()));
    }
    // A variable that repeats another one is shown with that one's unit, which the language cannot write: `$ts0.usecs`.
    if let Some((variable, _)) = value.split_once('.').filter(|(variable, unit)| {
        echoed
            && expr::is_name(variable.text.trim_start_matches('$'))
            && value.text.starts_with('$')
            && unit.text == "usecs"
    }) {
        value = variable;
    }
    let name = Spanned::new(name(variable)?, variable.span());
    Ok(Assign { name, value: expr(value)? })
}

fn sort_key(piece: SpecPiece<'_>, echoed: bool) -> Result<Spanned<SortKey>> {
    if piece.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("sort field"), piece.span()));
    }
    let (field, mut direction) = match piece.split_once('.') {
        Some((field, direction)) => (field, Some(direction)),
        None => (piece, None),
    };
    if field.text.is_empty() {
        return Err(SpecError::new(Kind::Empty("sort field"), piece.span()));
    }
    // The kernel prints a sort key like the key itself, `id.syscall.descending`, but does not read it so.
    if let Some(text) = direction.filter(|_| echoed) {
        let cut = match text.text.rsplit_once('.') {
            Some((head, "descending" | "ascending")) => text.from(head.len() + 1),
            _ => text,
        };
        let is_direction = matches!(cut.text, "descending" | "ascending");
        let modifier = text.slice(0, cut.start - text.start - usize::from(cut.start > text.start));
        let modifier = if is_direction { modifier } else { text };
        if !modifier.text.is_empty() {
            expr::modifier(modifier)?;
        }
        direction = is_direction.then_some(cut);
    }
    let descending = match direction {
        None => false,
        Some(d) => match d.text {
            "descending" => true,
            "ascending" => false,
            other => {
                return Err(SpecError::new(Kind::BadSortModifier(other.to_owned()), d.span())
                    .hint("directions are .ascending and .descending; a modifier is given with the key only"));
            }
        },
    };
    Ok(Spanned::new(SortKey { field: name(field)?, descending }, piece.span()))
}

/// `onmax($lat).save(next_comm,prev_pid)`
fn action(part: SpecPiece<'_>) -> Result<HandlerAction> {
    let malformed = || {
        SpecError::new(Kind::MalformedAction, part.span())
            .hint("for example onmax($lat).save(next_comm) or onmatch(sched.sched_waking).trace(wakeup,$lat)")
    };
    let (handler, rest) = part.split_once('(').ok_or_else(malformed)?;
    let (subject, rest) = rest.split_once(')').ok_or_else(malformed)?;
    let subject = subject.trim();
    let when = match handler.text {
        "onmatch" => {
            let bad = || {
                SpecError::new(Kind::BadName(subject.text.to_owned()), subject.span())
                    .hint("onmatch() takes the event as system.event")
            };
            let (system, event) = subject.split_once('.').ok_or_else(bad)?;
            if !is_event_name(system.text) || !is_event_name(event.text) {
                return Err(bad());
            }
            let event = (system.text.to_owned(), event.text.to_owned());
            Reaction::OnMatch { event: Spanned::new(event, subject.span()) }
        }
        "onmax" => Reaction::OnMax(tracked(subject, "onmax")?),
        "onchange" => Reaction::OnChange(tracked(subject, "onchange")?),
        other => {
            let error = SpecError::new(Kind::UnknownHandler(other.to_owned()), handler.span());
            return Err(match did_you_mean(other, ["onmatch", "onmax", "onchange"]) {
                Some(hint) => error.hint(hint),
                None => error.hint("handlers are onmatch, onmax and onchange"),
            });
        }
    };
    let body = rest.strip_prefix(".").ok_or_else(malformed)?;
    let (word, args) = body.split_once('(').ok_or_else(malformed)?;
    let Some(args) = args.text.strip_suffix(')').map(|text| SpecPiece { text, ..args }) else {
        return Err(malformed());
    };
    let args = arguments(args)?;
    // The kernel looks at the first letters only.
    let what = if word.text.starts_with("trace") {
        if word.text != "trace" {
            return Err(SpecError::new(Kind::BadName(word.text.to_owned()), word.span())
                .hint("a synthetic event whose name begins with `trace` is fired by trace(NAME,...)"));
        }
        let mut args = args.into_iter();
        let event = args.next().ok_or_else(malformed)?;
        Do::Trace { event: Spanned::new(name(event)?, event.span()), args: parse_args(args)?, keyword: true }
    } else if word.text == "save" {
        Do::Save(parse_args(args.into_iter())?)
    } else if word.text == "snapshot" {
        Do::Snapshot
    } else {
        let event = Spanned::new(name(word)?, word.span());
        Do::Trace { event, args: parse_args(args.into_iter())?, keyword: false }
    };
    Ok(HandlerAction { when, what })
}

fn is_event_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn tracked(subject: SpecPiece<'_>, handler: &'static str) -> Result<Spanned<String>> {
    let Some(variable) = subject.strip_prefix("$") else {
        return Err(SpecError::new(Kind::NotAVariable(handler), subject.span())
            .hint("define it in the same trigger: `lat=common_timestamp.usecs-$ts0:onmax($lat)...`"));
    };
    Ok(Spanned::new(name(variable)?, subject.span()))
}

fn arguments(list: SpecPiece<'_>) -> Result<Vec<SpecPiece<'_>>> {
    if list.text.trim().is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|arg| {
            let arg = arg.trim();
            if arg.text.is_empty() { Err(SpecError::new(Kind::Empty("argument"), arg.span())) } else { Ok(arg) }
        })
        .collect()
}

fn parse_args<'a>(args: impl Iterator<Item = SpecPiece<'a>>) -> Result<Vec<Spanned<ActionArg>>> {
    args.map(|piece| {
        let arg = if piece.text.contains('$') {
            ActionArg::Var(expr::variable(piece)?)
        } else if piece.text.contains('.') {
            let mut parts = piece.text.split('.');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(system), Some(event), Some(field), None)
                    if is_event_name(system) && is_event_name(event) && expr::is_name(field) =>
                {
                    ActionArg::Other { event: (system.to_owned(), event.to_owned()), field: field.to_owned() }
                }
                _ => {
                    return Err(SpecError::new(Kind::BadName(piece.text.to_owned()), piece.span())
                        .hint("arguments are $variable, field or system.event.field"));
                }
            }
        } else {
            ActionArg::Field(name(piece)?)
        };
        Ok(Spanned::new(arg, piece.span()))
    })
    .collect()
}

/// The hint on keys as bpftrace writes them.
fn of_bpftrace(keys: &str) -> Option<String> {
    let field = |text: &str| {
        let name = text.trim().trim_start_matches("args").trim_start_matches(['.', '-', '>']);
        expr::is_name(name).then(|| name.to_owned())
    };
    let call = |name: &str| keys.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(parts) = call("lhist").map(|all| all.split(',').collect::<Vec<_>>()) {
        let step = parts.get(3).unwrap_or(&"N").trim();
        return Some(format!("ranges of one size are a modifier: `{}.buckets={step}`", field(parts.first()?)?));
    }
    if let Some(inner) = call("hist") {
        return Some(format!("ranges that double are a modifier: `{}.log2`", field(inner)?));
    }
    let name = field(call("str").unwrap_or(keys)).filter(|name| name != keys)?;
    Some(format!("a field stands by itself: `{name}`"))
}
