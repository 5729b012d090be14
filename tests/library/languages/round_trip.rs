//! parse(print(tree)) == tree, for generated trees of the languages: all that can be meant can be written.
//! (That of histograms is next to its parser, whose tree it builds of private parts.)

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rtrace::filter::{CompareOp, CpuList, FieldModifier, Filter, FilterExpr, FilterValue, Predicate};
use rtrace::probe::{Fetch, KernelPlace, Probe, ProbeArg, ProbeKind};
use rtrace::syntax::{Span, Spanned};
use rtrace::synth::sql::{
    Aggregate, Calculation, Condition, Item, Join, Order, SelectColumn, SelectExpr, SqlQuery, Test, TestValue,
    ValueExpr,
};
use rtrace::synth::{FieldType, SynthDef, SynthField};
use rtrace::trigger::{EventRef, FunctionAction, FunctionTrigger, Trigger, TriggerAction};

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-zA-Z0-9_]{0,8}"
}

fn spanned<T: std::fmt::Debug>(items: impl Strategy<Value = T>) -> impl Strategy<Value = Spanned<T>> {
    items.prop_map(Spanned::from)
}

fn filter_value() -> impl Strategy<Value = FilterValue> {
    prop_oneof![
        any::<i64>().prop_map(|n| FilterValue::Number { value: n.into(), hex: false }),
        any::<u64>().prop_map(|n| FilterValue::Number { value: n.into(), hex: true }),
        (1u32..).prop_map(|n| FilterValue::Number { value: -i128::from(n), hex: true }),
        // A text holds one kind of quotes at most.
        "[ -!#-~é]{0,20}".prop_map(FilterValue::Text),
        "[ -&(-~é]{0,20}".prop_map(FilterValue::Text),
        proptest::collection::btree_set(0u32..300, 1..6).prop_map(|cpus| FilterValue::Cpus(CpuList::new(cpus))),
    ]
}

fn predicate() -> impl Strategy<Value = FilterExpr> {
    let plain = (
        name(),
        option::of(Just(FieldModifier::UserString)),
        prop::sample::select(CompareOp::ALL.to_vec()),
        filter_value(),
    );
    let function = ("[a-z_][a-z0-9_.$]{0,8}", any::<bool>()).prop_map(|(text, equal)| {
        (FieldModifier::Function, if equal { CompareOp::Equal } else { CompareOp::NotEqual }, text)
    });
    let function = (name(), function)
        .prop_map(|(field, (modifier, op, text))| (field, Some(modifier), op, FilterValue::Function(text)));
    prop_oneof![4 => plain, 1 => function].prop_map(|(field, modifier, op, value)| {
        let modifier = modifier.map(Spanned::from);
        FilterExpr::Predicate(Predicate {
            field: field.into(),
            modifier,
            op: op.into(),
            value: value.into(),
            span: Span::default(),
        })
    })
}

fn filter() -> impl Strategy<Value = FilterExpr> {
    predicate().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| FilterExpr::Not(Box::new(e))),
            vec(inner.clone(), 2..4).prop_map(FilterExpr::And),
            vec(inner, 2..4).prop_map(FilterExpr::Or),
        ]
    })
}

fn event_ref() -> impl Strategy<Value = EventRef> {
    (name(), name()).prop_map(|(system, event)| EventRef { system, event })
}

fn trigger() -> impl Strategy<Value = Trigger> {
    let action = prop_oneof![
        Just(TriggerAction::TraceOn),
        Just(TriggerAction::TraceOff),
        Just(TriggerAction::Snapshot),
        Just(TriggerAction::StackTrace),
        event_ref().prop_map(TriggerAction::EnableEvent),
        event_ref().prop_map(TriggerAction::DisableEvent),
        event_ref().prop_map(TriggerAction::EnableHist),
        event_ref().prop_map(TriggerAction::DisableHist),
    ];
    (action, option::of(any::<u64>()), option::of(filter())).prop_map(|(action, count, filter)| {
        let filter = filter.map(|f| Filter::parse(&f.to_string()).expect("a filter"));
        Trigger { action, count, filter }
    })
}

fn function_trigger() -> impl Strategy<Value = FunctionTrigger> {
    let action = prop_oneof![
        Just(FunctionAction::TraceOn),
        Just(FunctionAction::TraceOff),
        Just(FunctionAction::Snapshot),
        Just(FunctionAction::StackTrace),
        Just(FunctionAction::Dump),
        Just(FunctionAction::CpuDump),
        event_ref().prop_map(FunctionAction::EnableEvent),
        event_ref().prop_map(FunctionAction::DisableEvent),
    ];
    ("[a-z_*?][a-zA-Z0-9_.*?]{0,12}", action, option::of(any::<u64>()))
        .prop_map(|(function, action, count)| FunctionTrigger { function, action, count })
}

/// The kind of a place, which decides what is recorded there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    Kernel,
    User,
    Function,
    Event,
}

fn fetch(site: Site, returns: bool) -> impl Strategy<Value = Fetch> {
    let register = prop::sample::select(vec!["di", "ax", "orig_ax", "r15"]).prop_map(|r| Fetch::Register(r.to_owned()));
    let value = if returns { Fetch::ReturnValue } else { Fetch::Argument(2) };
    let member = (Just(value.clone()), "[a-z_]{1,6}((->|\\.)[a-z_]{1,6}){0,2}")
        .prop_map(|(of, path)| Fetch::Member { of: Box::new(of), path });
    let other = prop_oneof![
        Just(Fetch::Stack),
        (0u32..4096).prop_map(Fetch::StackEntry),
        (1u32..=128).prop_map(Fetch::Argument),
        Just(Fetch::Arguments),
        Just(value),
        member,
    ];
    let own = match site {
        Site::Event => {
            name().prop_filter("it has its own meaning", |n| n != "comm").prop_map(Fetch::EventField).boxed()
        }
        Site::Function => other.boxed(),
        Site::Kernel | Site::User => prop_oneof![1 => register, 3 => other].boxed(),
    };
    let memory = match site {
        Site::User => "(0x[0-9a-f]{1,16}|\\+(0|[1-9][0-9]{0,3}))",
        _ => "(0x[0-9a-f]{1,16}|[a-z_]{1,8}([+-](0|[1-9][0-9]{0,2}))?)",
    };
    let variable = match site {
        Site::Kernel | Site::Function => "[a-z_]{1,6}((->|\\.)[a-z_]{1,6}){0,2}".prop_map(Fetch::Variable).boxed(),
        Site::User | Site::Event => Just(Fetch::Comm).boxed(),
    };
    let leaf = prop_oneof![
        4 => own,
        1 => Just(Fetch::Comm),
        1 => memory.prop_map(Fetch::Memory),
        1 => "(-?[1-9][0-9]{0,8}|0x[0-9a-f]{1,8})".prop_map(Fetch::Immediate),
        1 => "[a-z_:=]{0,12}".prop_map(Fetch::Text),
        1 => variable,
    ];
    leaf.prop_recursive(3, 6, 1, move |inner| {
        let address = inner.prop_map(|inner| match inner {
            Fetch::Comm | Fetch::Text(_) | Fetch::Arguments => Fetch::Immediate("1".to_owned()),
            address => address,
        });
        // Short: an argument has 63 bytes at most.
        let cast = ("[a-z_]{1,3}", address.clone(), "[a-z_]{1,2}").prop_map(move |(structure, of, path)| match site {
            Site::User => of,
            _ => Fetch::Cast { structure, member: None, of: Box::new(of), nested: true, path },
        });
        let memory = (any::<bool>(), -99999i64..99999, address).prop_map(|(user, offset, address)| Fetch::Deref {
            user,
            offset,
            address: Box::new(address),
        });
        prop_oneof![3 => memory, 1 => cast]
    })
}

fn args(site: Site, returns: bool) -> impl Strategy<Value = Vec<ProbeArg>> {
    let kinds = ["u8", "s64", "x32[7]", "b4@2/32", "symbol", "char", "u16[64]"];
    let one = (option::of(Just(())), fetch(site, returns), option::of(prop::sample::select(kinds.to_vec())));
    vec(one, 0..4).prop_map(move |all| {
        let mut listed = false; // $arg* stands once, without a name
        let mut arg = |(at, (name, fetch, kind)): (usize, (Option<()>, Fetch, Option<&str>))| {
            let fetch = if fetch == Fetch::Arguments && listed { Fetch::Stack } else { fetch };
            listed |= fetch == Fetch::Arguments;
            let is_text = matches!(fetch, Fetch::Comm | Fetch::Text(_)) && site != Site::Event;
            ProbeArg {
                name: name.filter(|()| fetch != Fetch::Arguments).map(|()| format!("v{at}")),
                fetch,
                kind: kind.map(|kind| if is_text { "string" } else { kind }.to_owned()),
            }
        };
        all.into_iter().enumerate().map(&mut arg).collect()
    })
}

fn kernel_place() -> impl Strategy<Value = KernelPlace> {
    let symbol = prop_oneof![4 => name(), 1 => any::<u64>().prop_map(|n| format!("{n:#x}"))];
    (option::of("[a-z]{1,5}"), symbol, 0u64..999).prop_map(|(module, symbol, offset)| KernelPlace {
        module,
        symbol,
        offset,
        span: Span::default(),
    })
}

fn probe() -> impl Strategy<Value = Probe> {
    let kind = prop_oneof![
        kernel_place().prop_map(ProbeKind::Kprobe),
        (option::of(1u32..=4096), kernel_place()).prop_map(|(max_active, at)| ProbeKind::Kretprobe { max_active, at }),
        ("(/[a-z.0-9]{1,6}){1,3}", any::<u64>(), option::of(any::<u64>()), any::<bool>())
            .prop_map(|(path, offset, counter, returns)| ProbeKind::Uprobe { path, offset, counter, returns }),
        (name(), name()).prop_map(|(system, event)| ProbeKind::Event { system, event }),
        (name(), option::of(1u32..=4096)).prop_map(|(symbol, max_active)| ProbeKind::Function {
            symbol,
            returns: max_active.is_some(),
            max_active
        }),
        name().prop_map(|symbol| ProbeKind::Function { symbol, returns: true, max_active: None }),
        name().prop_map(|name| ProbeKind::Tracepoint { name }),
        "(u32 [a-z]{1,4}(; char\\[20\\] [a-z]{1,4})?)?".prop_map(|fields| ProbeKind::User { fields }),
    ];
    kind.prop_flat_map(|kind| {
        let user = matches!(kind, ProbeKind::User { .. });
        let of_event = matches!(kind, ProbeKind::Event { .. });
        let returns = match &kind {
            ProbeKind::Kretprobe { .. } => true,
            ProbeKind::Uprobe { returns, .. } | ProbeKind::Function { returns, .. } => *returns,
            _ => false,
        };
        let site = match &kind {
            ProbeKind::Uprobe { .. } => Site::User,
            ProbeKind::Function { .. } | ProbeKind::Tracepoint { .. } => Site::Function,
            ProbeKind::Event { .. } => Site::Event,
            _ => Site::Kernel,
        };
        let args = if user { Just(Vec::new()).boxed() } else { args(site, returns).boxed() };
        let filter = if of_event { option::of("[a-z]{1,4} == [0-9]").boxed() } else { Just(None).boxed() };
        let group = if user { Just(None).boxed() } else { option::of(name()).boxed() };
        let event = if user { name().prop_map(Some).boxed() } else { option::of(name()).boxed() };
        (Just(kind), group, event, args, filter).prop_map(|(kind, group, event, args, filter)| Probe {
            kind,
            group,
            event,
            args,
            filter,
        })
    })
}

fn definition() -> impl Strategy<Value = SynthDef> {
    let number = prop::sample::select(vec!["u64", "s8", "pid_t", "unsigned int", "long long", "gfp_t", "bool", "char"]);
    let ty = prop_oneof![
        number.prop_map(|ty| FieldType::Number(ty.to_owned())),
        option::of(1u32..=256).prop_map(FieldType::Text),
        any::<bool>().prop_map(|signed| FieldType::Stack { signed }),
    ];
    let fields = vec((ty, name()), 1..12).prop_map(|fields| {
        let numbered = |(at, (ty, name)): (usize, (FieldType, String))| SynthField { ty, name: format!("{name}_{at}") };
        fields.into_iter().enumerate().map(numbered).collect()
    });
    (name(), fields).prop_map(|(name, fields)| SynthDef { name, fields })
}

/// Names of SQL: with dots, keywords, and what needs a backslash to be a name.
fn word() -> impl Strategy<Value = Spanned<String>> {
    let odd = prop::sample::select(vec![
        "from",
        "AS",
        "Select",
        "cast",
        "sym",
        "9lives",
        ".x",
        "TIMESTAMP",
        "order",
        "BY",
        "group",
        "desc",
        "limit",
        "count",
        "sum",
    ]);
    spanned(prop_oneof![6 => "[a-z_]{1,6}(\\.[a-zA-Z_0-9]{1,5})?", 1 => odd.prop_map(str::to_owned)])
}

fn condition() -> impl Strategy<Value = Condition> {
    let op = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">=", "&"]);
    let number = prop_oneof![any::<u64>().prop_map(|n| n.to_string()), any::<u64>().prop_map(|n| format!("{n:#x}"))];
    let text = "[ -!#-~é]{0,12}".prop_map(TestValue::Text).boxed();
    let value = prop_oneof![number.prop_map(TestValue::Number), text.clone()];
    let test = prop_oneof![
        4 => (word(), op, value).prop_map(|(field, op, value)| Test { field, op, value }),
        1 => (word(), text).prop_map(|(field, value)| Test { field, op: "~", value }),
    ];
    test.prop_map(Condition::Test).prop_recursive(4, 12, 2, |inner| {
        let side = || inner.clone().prop_map(|c| Box::new(Spanned::from(c)));
        prop_oneof![
            side().prop_map(Condition::Not),
            (side(), side()).prop_map(|(a, b)| Condition::And(a, b)),
            (side(), side()).prop_map(|(a, b)| Condition::Or(a, b)),
        ]
    })
}

fn sql_number() -> impl Strategy<Value = Spanned<String>> {
    any::<u64>().prop_map(|number| Spanned::from(number.to_string()))
}

fn value_expr() -> impl Strategy<Value = ValueExpr> {
    let ty = prop_oneof![word(), Just(Spanned::from("sym-offset".to_owned()))];
    let leaf = prop_oneof![4 => word().prop_map(ValueExpr::Field), 1 => sql_number().prop_map(ValueExpr::Number)];
    let calculation =
        prop::sample::select(vec![Calculation::Plus, Calculation::Minus, Calculation::Times, Calculation::Over]);
    leaf.prop_recursive(4, 12, 2, move |inner| {
        prop_oneof![
            (inner.clone(), ty.clone()).prop_map(|(value, ty)| ValueExpr::Cast(Box::new(value), ty)),
            (calculation.clone(), inner.clone(), inner)
                .prop_map(|(calculation, left, right)| ValueExpr::Binary(calculation, Box::new((left, right)))),
        ]
    })
}

fn select_expr() -> impl Strategy<Value = SelectExpr> {
    let named = Aggregate::NAMED.map(|(_, aggregate)| aggregate).to_vec();
    let aggregate = prop_oneof![prop::sample::select(named), (0u32..=1_000_000).prop_map(Aggregate::Percentile)];
    prop_oneof![
        value_expr().prop_map(SelectExpr::Value),
        Just(SelectExpr::Count),
        (aggregate, value_expr()).prop_map(|(aggregate, value)| SelectExpr::Of(aggregate, value)),
    ]
}

fn query() -> impl Strategy<Value = SqlQuery> {
    let selection = (select_expr(), option::of(word())).prop_map(|(expr, label)| SelectColumn { expr, label });
    let item = || (word(), option::of(word())).prop_map(|(name, label)| Item { name, label });
    let join = (item(), vec((word(), word()), 1..3)).prop_map(|(item, on)| Join { item, on });
    let order = (select_expr(), any::<bool>()).prop_map(|(by, descending)| Order { by, descending });
    let group = vec(value_expr(), 0..3);
    let clauses = (vec(spanned(condition()), 0..3), group, vec(spanned(order), 0..3), option::of(sql_number()));
    (vec(spanned(selection), 1..4), item(), option::of(join), clauses).prop_map(
        |(select, from, join, (conditions, group, order, limit))| SqlQuery {
            select,
            from,
            join,
            conditions,
            group,
            order,
            limit,
        },
    )
}

proptest! {
    #[test]
    fn filters(expr in filter()) {
        let text = expr.to_string();
        prop_assume!(text.len() < 4000);
        prop_assert_eq!(text.parse(), Ok(expr), "{}", text);
    }

    #[test]
    fn triggers(trigger in trigger()) {
        let text = trigger.to_string();
        prop_assume!(text.len() < 4000);
        prop_assert_eq!(text.parse(), Ok(trigger), "{}", text);
    }

    #[test]
    fn function_triggers(trigger in function_trigger()) {
        let text = trigger.to_string();
        prop_assert_eq!(text.parse(), Ok(trigger), "{}", text);
    }

    #[test]
    fn probes(probe in probe()) {
        let text = probe.to_string();
        // The kernel's limit on an argument.
        prop_assume!(text.split(' ').all(|word| word.len() < 64));
        prop_assert_eq!(text.parse(), Ok(probe), "{}", text);
    }

    #[test]
    fn synthetic_events(definition in definition()) {
        let text = definition.to_string();
        prop_assert_eq!(SynthDef::parse(&text), Ok(definition), "{}", text);
    }

    #[test]
    fn statements(query in query()) {
        let text = query.to_string();
        prop_assert_eq!(SqlQuery::parse(&text), Ok(query), "{}", text);
    }
}
