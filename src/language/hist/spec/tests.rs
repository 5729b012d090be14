use super::*;
use crate::base::syntax::Spanned;
use crate::kernel::format::EventFormat;
use proptest::prelude::*;

const SWITCH: &str = include_str!("../../../../tests/data/hist/vm-6.12/events/sched/sched_switch/format");

fn checked(text: &str, features: Features, neighbours: &[Neighbour]) -> Result<(), String> {
    let event = EventFormat::parse("sched", SWITCH).unwrap();
    let lookup = |system: &str, name: &str| (system == "sched" && name == "sched_switch").then(|| event.clone());
    let around = CheckContext { event: &event, features, neighbours: Some(neighbours), lookup: Some(&lookup) };
    HistSpec::parse(text).unwrap().check(&around).map_err(|errors| errors[0].diagnostic(text).to_string())
}

fn refused(text: &str) -> String {
    checked(text, Features::ALL, &[]).expect_err(text)
}

fn parse_error(text: &str) -> String {
    HistSpec::parse(text).expect_err(text).diagnostic(text).to_string()
}

#[test]
fn errors_stand_where_they_are() {
    assert_eq!(
        refused("hist:keys=next_pid:vals=nextprio"),
        "sched:sched_switch has no field `nextprio`\n  trigger: hist:keys=next_pid:vals=nextprio\n                                   ^~~~~~~~"
    );
    assert_eq!(
        parse_error("hist:keys=next_pid.log"),
        "unknown modifier `.log`\n  trigger: hist:keys=next_pid.log\n                              ^~~"
    );
    let error = HistSpec::parse("hist:keys=next_pid.log").unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `log2`?"));
}

#[test]
fn every_parse_error() {
    for (text, message) in [
        ("keys=a", "starts with `hist:`"),
        ("hist:vals=a", "no keys"),
        ("hist:keys=a:keys=b", "`keys` is given twice"),
        ("hist:keys=", "empty assignment"),
        ("hist:keys=a,", "empty field"),
        ("hist:keys=a:", "empty part"),
        ("hist:keys=a:paus", "unknown part `paus`"),
        ("hist:keys=a b", "`a b` is no name"),
        ("hist:keys=a:size=x", "`x` is no number"),
        ("hist:keys=a:size=99999999999999999999", "is no number"),
        ("hist:keys=a.hox", "unknown modifier `.hox`"),
        ("hist:keys=a.buckets", "needs a size"),
        ("hist:keys=a.buckets=0", "needs a size"),
        ("hist:keys=a:sort=a.up", "unknown sort direction `.up`"),
        ("hist:keys=a:sort=.descending", "empty sort field"),
        ("hist:keys=a:x=a+", "an operand is missing"),
        ("hist:keys=a:x=(a+b)*2", "only possible around the whole"),
        ("hist:keys=a:x=-a", "only possible around the whole"),
        ("hist:keys=a:onmax($x)", "malformed action"),
        ("hist:keys=a:onmax($x).save(a", "malformed action"),
        ("hist:keys=a:onfoo($x).save(a)", "unknown handler `onfoo`"),
        ("hist:keys=a:onmax(x).save(a)", "onmax() takes a variable"),
        ("hist:keys=a:onmatch(sched_waking).trace(ab,cd)", "is no name"),
        ("hist:keys=a:onmatch(s.e).tracer(ab,cd)", "is no name"),
        ("hist:keys=a:onmatch(s.e).trace(ab,,cd)", "empty argument"),
        ("hist:keys=a:onmatch(s.e).trace(ab,x.y)", "is no name"),
        ("hist:keys=a:pause:cont", "only one of pause"),
        ("hist:keys=a if", "no filter"),
        ("hist:keys=a if  ", "no filter"),
        ("hist:keys=a\nx", "a trigger is one line"),
        ("hist:keys=a:x=1,y", "unknown part `y`"),
        ("hist:keys=a:x=s.$y", "is no name"),
    ] {
        let error = parse_error(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn every_check() {
    for (text, message) in [
        ("hist:keys=prev_pid,next_pid,prev_prio,next_prio", "4 keys: the kernel takes at most 3"),
        ("hist:keys=prev_pid:vals=next_pid,prev_prio,next_prio", "3 values besides hitcount"),
        ("hist:keys=prev_pid:sort=prev_pid,hitcount,prev_pid", "3 sort fields"),
        ("hist:keys=prev_pid:x=1+2+3+4+5", "4 operators in one expression"),
        ("hist:keys=prev_pid:size=131073", "out of range"),
        ("hist:keys=prev_pid:nohitcount", "needs at least one value"),
        ("hist:keys=hitcount", "no field `hitcount`"),
        ("hist:keys=next_pid.execname", "only on common_pid"),
        ("hist:keys=next_pid.percent", "cannot be used on a key"),
        ("hist:keys=next_pid:vals=prev_prio.log2", "cannot be used on a value"),
        ("hist:keys=next_pid:x=prev_prio.log2", "cannot be used in a variable"),
        ("hist:keys=next_pid:x=1,x=2", "`x` is already defined"),
        ("hist:keys=$x", "a key cannot be a variable"),
        ("hist:keys=next_pid:x=$y", "no variable `$y`"),
        ("hist:keys=next_pid:x=next_comm-1", "`next_comm` is text"),
        ("hist:keys=next_pid:x=common_timestamp-common_timestamp.usecs", "same unit"),
        ("hist:keys=next_pid:x=next_pid/0", "division by zero"),
        ("hist:keys=next_pid:sort=prev_pid", "cannot sort by `prev_pid`"),
        ("hist:keys=next_pid:onmatch(a.b).trace(ev,next_pid)", "no event a.b"),
        ("hist:keys=next_pid:onmatch(sched.sched_switch).save(next_pid)", "save() needs onmax or onchange"),
        ("hist:keys=next_pid:onmatch(sched.sched_switch).snapshot()", "snapshot() needs onmax or onchange"),
        ("hist:keys=next_pid:onmatch(sched.sched_switch).ev(next_pid)", "no synthetic event `ev`"),
        ("hist:keys=next_pid:x=1:onmax($x).save()", "at least one field"),
        ("hist:keys=next_pid:x=1:onmax($x).save(next_pid):onmax($x).save(prev_pid)", "only one save()"),
        ("hist:keys=next_pid:x=1:onmax($x).save(a)", "single character"),
        ("hist:keys=next_pid:x=1:onmax($x).save(bogus)", "no field `bogus`"),
        ("hist:keys=next_pid:onmax($x).save(next_pid)", "no variable `$x`"),
    ] {
        let error = refused(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn variables_of_other_triggers() {
    let neighbour = |system: &str, event: &str| Neighbour {
        system: system.to_owned(),
        event: event.to_owned(),
        spec: HistSpec::parse("hist:keys=pid:ts0=common_timestamp.usecs").unwrap(),
    };
    let text = "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0";
    let (a, b) = (neighbour("sched", "sched_waking"), neighbour("sched", "sched_wakeup"));
    assert_eq!(checked(text, Features::ALL, std::slice::from_ref(&a)), Ok(()));
    let error = checked(text, Features::ALL, &[a.clone(), b.clone()]).unwrap_err();
    assert!(error.contains("defined by several events: sched.sched_waking, sched.sched_wakeup"), "{error}");
    let text = "hist:keys=next_pid:lat=common_timestamp.usecs-sched.sched_wakeup.$ts0";
    assert_eq!(checked(text, Features::ALL, &[a, b]), Ok(()));
}

#[test]
fn older_kernels() {
    let old = Features {
        no_hitcount: false,
        common_stacktrace: false,
        arithmetic: false,
        buckets: false,
        actions: false,
        ..Features::ALL
    };
    for (text, what) in [
        ("hist:keys=common_stacktrace", "common_stacktrace"),
        ("hist:keys=next_pid:x=stacktrace", "stacks outside of keys"),
        ("hist:keys=next_pid:vals=hitcount.percent", "modifiers on hitcount"),
        ("hist:keys=next_pid:vals=next_prio:nohitcount", "nohitcount"),
        ("hist:keys=next_pid.buckets=4", ".buckets"),
        ("hist:keys=next_pid:x=next_prio*prev_prio", "multiplication"),
        ("hist:keys=next_pid:x=next_prio:onmax($x).save(next_comm)", "actions"),
    ] {
        let error = checked(text, old, &[]).expect_err(text);
        assert!(error.contains("this kernel knows no") && error.contains(what), "{text}: {error}");
        assert_eq!(checked(text, Features::ALL, &[]), Ok(()), "{text}");
    }
}

#[test]
fn trees() {
    let spec = HistSpec::parse("hist:key=a.sym-offset:x=-(a-b.hex),y=a+b*2 if x == 1 if y").unwrap();
    assert_eq!(spec.keys[0].value, HistExpr::with("a", KeyModifier::SymOffset));
    let difference = HistExpr::binary(BinaryOp::Sub, HistExpr::field("a"), HistExpr::with("b", KeyModifier::Hex));
    assert_eq!(spec.vars[0].value.value, HistExpr::Neg(Box::new(difference.into())));
    let product = HistExpr::binary(BinaryOp::Mul, HistExpr::field("b"), HistExpr::Number(2));
    assert_eq!(spec.vars[1].value.value, HistExpr::binary(BinaryOp::Add, HistExpr::field("a"), product));
    assert_eq!(spec.filter.as_ref().unwrap().value, "x == 1 if y");
    assert_eq!(HistSpec::parse("hist:keys=notif,ifx if a").unwrap().keys.len(), 2);
    // Offsets lead into the whole text.
    let text = "hist:keys=a,bb.hex:vals=c";
    assert_eq!(HistSpec::parse(text).unwrap().keys[1].span.of(text), "bb.hex");
}

#[test]
fn what_kernels_show_differently() {
    let event = EventFormat::parse("sched", SWITCH).unwrap();
    for (written, shown) in [
        ("hist:keys=cpu", "hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048"),
        ("hist:keys=next_pid:x=1+2+3+4", "hist:keys=next_pid:vals=hitcount:x=10:sort=hitcount:size=2048"),
        (
            "hist:keys=next_pid:x=prev_prio:y=$x",
            "hist:keys=next_pid:vals=hitcount:x=prev_prio,y=prev_prio:sort=hitcount:size=2048",
        ),
        (
            "hist:keys=next_pid:l=prev_prio-sched.sched_waking.$t",
            "hist:keys=next_pid:vals=hitcount:l=prev_prio-$sched.sched_waking.t:sort=hitcount:size=2048",
        ),
    ] {
        let echo = Echo::parse(&format!("{shown} [active]")).unwrap();
        assert_eq!(HistSpec::parse(written).unwrap().shown_on(&event), echo.spec, "{written}");
    }
}

/// As Linux 7.3 shows them.
#[test]
fn a_cpu_shown_twice() {
    for shown in ["common_cpucommon_cpu", "common_cpucpu", "common_cpuCPU"] {
        let line = format!("hist:keys=prev_pid,{shown}:vals=hitcount:c={shown}:sort=hitcount:size=2048 [active]");
        let once = line.replace(shown, "common_cpu");
        assert_eq!(Echo::parse(&line).unwrap(), Echo::parse(&once).unwrap());
        assert_eq!(Echo::written(&line), Echo::written(&once));
    }
}

#[test]
fn states_of_echoes() {
    let active = Echo::parse("hist:keys=a:vals=hitcount:sort=hitcount:size=2048 [active]\n").unwrap();
    assert_eq!(active.state, TriggerState::Active);
    assert_eq!(Echo::parse("hist:keys=a [paused]").unwrap().state, TriggerState::Paused);
    assert!(Echo::parse("hist:keys=a").is_err());
    let sorted =
        Echo::parse("hist:keys=a.buckets=4:vals=hitcount:sort=a.buckets=4.descending:size=128 [active]").unwrap();
    assert_eq!(sorted.spec.sort[0].value, SortKey { field: "a".to_owned(), descending: true });
    assert!(Echo::parse("hist:keys=a:sort=a.foo [active]").is_err());
    assert!(HistSpec::parse("hist:keys=a.log2:sort=a.log2").is_err(), "the kernel refuses its own words");
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_]{1,8}".prop_filter("words of the language", |n| {
        !["if", "key", "keys", "val", "vals", "values", "sort", "name", "clock", "size", "pause", "cont", "continue"]
            .contains(&n.as_str())
            && !["clear", "nohitcount", "trace", "save", "snapshot"].iter().any(|w| n.starts_with(w))
    })
}

fn modifier() -> impl Strategy<Value = KeyModifier> {
    prop_oneof![
        Just(KeyModifier::Hex),
        Just(KeyModifier::Sym),
        Just(KeyModifier::SymOffset),
        Just(KeyModifier::Syscall),
        Just(KeyModifier::Execname),
        Just(KeyModifier::Log2),
        (1u64..).prop_map(KeyModifier::Buckets),
        Just(KeyModifier::Usecs),
        Just(KeyModifier::Stacktrace),
        Just(KeyModifier::Percent),
        Just(KeyModifier::Graph),
    ]
}

fn var_ref() -> impl Strategy<Value = VarRef> {
    (proptest::option::of((name(), name())), name()).prop_map(|(event, name)| VarRef { event, name })
}

fn atom() -> impl Strategy<Value = HistExpr> {
    prop_oneof![
        any::<u64>().prop_map(HistExpr::Number),
        (name(), proptest::option::of(modifier())).prop_map(|(name, modifier)| HistExpr::Field { name, modifier }),
        var_ref().prop_map(HistExpr::Var),
    ]
}

/// Left-leaning sums of left-leaning products, which is all that can be written.
fn expr() -> impl Strategy<Value = HistExpr> {
    let fold = |ops: [BinaryOp; 2]| {
        move |(first, rest): (HistExpr, Vec<(bool, HistExpr)>)| {
            rest.into_iter().fold(first, |left, (which, right)| HistExpr::binary(ops[usize::from(which)], left, right))
        }
    };
    let product = (atom(), proptest::collection::vec((any::<bool>(), atom()), 0..3))
        .prop_map(fold([BinaryOp::Mul, BinaryOp::Div]));
    let product = product.boxed();
    let sum = (product.clone(), proptest::collection::vec((any::<bool>(), product), 0..3));
    let sum = sum.prop_map(fold([BinaryOp::Add, BinaryOp::Sub])).boxed();
    prop_oneof![4 => sum.clone(), 1 => sum.prop_map(|e| HistExpr::Neg(Box::new(e.into())))]
}

fn spanned<T: std::fmt::Debug>(items: impl Strategy<Value = T>) -> impl Strategy<Value = Spanned<T>> {
    items.prop_map(Spanned::from)
}

fn arg() -> impl Strategy<Value = Spanned<ActionArg>> {
    spanned(prop_oneof![
        var_ref().prop_map(ActionArg::Var),
        name().prop_map(ActionArg::Field),
        (name(), name(), name()).prop_map(|(s, e, field)| ActionArg::Other { event: (s, e), field }),
    ])
}

fn action() -> impl Strategy<Value = HandlerAction> {
    let when = prop_oneof![
        (name(), name()).prop_map(|event| Reaction::OnMatch { event: event.into() }),
        name().prop_map(|v| Reaction::OnMax(v.into())),
        name().prop_map(|v| Reaction::OnChange(v.into())),
    ];
    let args = || proptest::collection::vec(arg(), 0..4);
    let what = prop_oneof![
        (name(), args(), any::<bool>()).prop_map(|(e, args, keyword)| Do::Trace { event: e.into(), args, keyword }),
        args().prop_map(Do::Save),
        Just(Do::Snapshot),
    ];
    (when, what).prop_map(|(when, what)| HandlerAction { when, what })
}

prop_compose! {
    fn spec()(
        name_ in proptest::option::of(spanned(name())),
        keys in proptest::collection::vec(spanned(expr()), 1..4),
        vals in proptest::collection::vec(spanned(expr()), 0..4),
        vars in proptest::collection::vec((spanned(name()), spanned(expr())), 0..4),
        sort in proptest::collection::vec(
            spanned((name(), any::<bool>()).prop_map(|(field, descending)| SortKey { field, descending })), 0..3),
        size in proptest::option::of(spanned(any::<u64>())),
        clock in proptest::option::of(spanned(name())),
        no_hitcount in any::<bool>(),
        control in proptest::option::of(
            prop_oneof![Just(Control::Pause), Just(Control::Continue), Just(Control::Clear)]),
        actions in proptest::collection::vec(spanned(action()), 0..3),
        filter in proptest::option::of(spanned("[a-z]+ == [0-9]+( && [a-z]+ ~ \"[a-z:*]*\")?")),
    ) -> HistSpec {
        let vars = vars.into_iter().map(|(name, value)| Assign { name, value }).collect();
        HistSpec { name: name_, keys, vals, vars, sort, size, clock, no_hitcount, control, actions, filter }
    }
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(spec in spec()) {
        let text = spec.to_string();
        match HistSpec::parse(&text) {
            Ok(parsed) => prop_assert_eq!(parsed, spec, "{}", text),
            Err(e) => prop_assert!(false, "{}", e.diagnostic(&text)),
        }
    }

    #[test]
    fn normal_forms_are_stable_and_echo_back(spec in spec()) {
        let normal = spec.normal();
        prop_assert_eq!(&normal.normal(), &normal);
        let line = format!("{} [active]", spec.echo());
        match Echo::parse(&line) {
            Ok(echo) => prop_assert_eq!(echo.spec, normal, "{}", line),
            Err(e) => prop_assert!(false, "{}", e.diagnostic(&line)),
        }
    }

    #[test]
    fn any_text_ends_in_an_answer(text in "(hist:)?(keys=|vals=|sort=|[a-z$.:=,()+*/ -]|buckets=|onmax\\(|\\.save\\(| if |\\PC){0,30}") {
        if let Err(error) = HistSpec::parse(&text) {
            prop_assert!(error.span.start <= text.len() && error.span.end <= text.len());
            let _ = error.diagnostic(&text).to_string();
        }
    }
}

#[test]
fn what_the_kernel_takes_or_refuses_without_a_word() {
    for (text, message, place) in [
        ("hist:keys=next_comm.log2", "`.log2` cannot be used on text: `next_comm`", "log2"),
        ("hist:keys=next_comm.buckets=5", "`.buckets=5` cannot be used on text", "buckets=5"),
        ("hist:keys=common_stacktrace.hex", "`.hex` cannot be used on a stack", "hex"),
        ("hist:keys=prev_pid,next_pid,prev_prio,next_prio", "4 keys: the kernel takes at most 3", "next_prio"),
        ("hist:keys=next_pid:x=prev_prio+1:vals=$x", "`$x` is calculated in this same trigger, and later", "$x"),
        ("hist:keys=next_pid:x=1000:y=prev_prio/$x", "`$x` is a number of this same trigger", "$x"),
        ("hist:keys=next_pid:y=$x:x=prev_prio+1", "`$x` is calculated in this same trigger, and later", "$x"),
    ] {
        let error = refused(text);
        let caret = error.lines().last().unwrap();
        let column = "  trigger: ".len() + text.find(place).unwrap();
        let shown = format!("{}^{}", " ".repeat(column), "~".repeat(place.len() - 1));
        assert!(error.contains(message) && caret == shown, "{error}");
    }
    for text in [
        "hist:keys=next_pid:x=prev_prio:vals=$x",
        "hist:keys=next_pid:x=prev_prio:y=$x+1",
        "hist:keys=next_pid:x=prev_prio+1:y=$x",
        "hist:keys=next_pid:x=prev_prio+1:onmax($x).save(prev_comm)",
        "hist:keys=next_comm.hex",
    ] {
        assert_eq!(checked(text, Features::ALL, &[]), Ok(()), "{text}");
    }
    let other = HistSpec::parse("hist:keys=next_pid:x=prev_prio").unwrap();
    let other = Neighbour { system: "sched".into(), event: "sched_switch".into(), spec: other };
    assert_eq!(checked("hist:keys=next_pid:x=prev_prio+1:vals=$x", Features::ALL, &[other]), Ok(()));
}

#[test]
fn histograms_of_one_name_have_one_table() {
    let event = EventFormat::parse("sched", SWITCH).unwrap();
    let against = |mine: &str, other: &str| {
        let (text, mine) = (mine, HistSpec::parse(mine).unwrap());
        let checked = mine.check_named(&event, &HistSpec::parse(other).unwrap(), &event);
        checked.map_err(|error| error.diagnostic(text).to_string())
    };
    let foo = "hist:name=foo:keys=next_pid:vals=prev_prio";
    assert_eq!(against("hist:name=foo:keys=next_pid:vals=prev_prio if next_pid > 1", foo), Ok(()));
    for (mine, wrong) in [
        ("hist:name=foo:keys=prev_pid:vals=prev_prio", "has `next_pid` (pid_t), this one `prev_pid` (pid_t)"),
        ("hist:name=foo:keys=next_pid.hex:vals=prev_prio", "has `next_pid` (pid_t), this one `next_pid.hex`"),
        ("hist:name=foo:keys=next_pid,prev_pid:vals=prev_prio", "has 1 keys, this one 2"),
        ("hist:name=foo:keys=next_pid", "has 2 values, this one 1"),
        ("hist:name=foo:keys=next_pid:vals=prev_prio:sort=next_pid", "has sort=hitcount, this one sort=next_pid"),
    ] {
        let error = against(mine, foo).expect_err(mine);
        assert!(error.contains(wrong) && error.contains('^'), "{error}");
    }
}

#[test]
fn a_repeated_variable_is_shown_with_its_unit() {
    let line = "hist:keys=next_pid:vals=hitcount:b=$a.usecs,c=common_timestamp.usecs-$a:sort=hitcount:size=2048:clock=global [active]";
    let echo = Echo::parse(line).unwrap();
    assert_eq!(echo.spec.vars[0].value.value, HistExpr::var("a"));
    assert!(HistSpec::parse("hist:keys=next_pid:b=$a.usecs").is_err());
}
