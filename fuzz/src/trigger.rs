//! Any text as a trigger of an event or of a function: an error, or a trigger that reads back as itself from what it
//! prints.

use rtrace::trigger::{FunctionTrigger, Trigger};

pub(crate) fn run(text: &str) {
    if let Ok(trigger) = text.parse::<Trigger>() {
        let printed = trigger.to_string();
        assert!(!printed.contains(['\n', '\0']), "more than one line: {printed:?}");
        let again = printed.parse();
        assert!(trigger.same_slot(&trigger), "{printed}");
        assert_eq!(again, Ok(trigger), "{printed}");
    }
    if let Ok(trigger) = text.parse::<FunctionTrigger>() {
        let printed = trigger.to_string();
        assert_eq!(printed.parse(), Ok(trigger), "{printed}");
    }
}
