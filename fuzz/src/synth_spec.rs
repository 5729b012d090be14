//! Any text as the definition of a synthetic event: an error, or a definition that reads back as itself from what it
//! prints.

use rtrace::synth::SynthDef;

pub(crate) fn run(text: &str) {
    let Ok(def) = SynthDef::parse(text) else { return };
    let printed = def.to_string();
    assert!(!printed.contains(['\n', '\0']), "more than one line: {printed:?}");
    assert_eq!(SynthDef::parse(&printed), Ok(def), "{printed}");
}
