//! Formats for the tests of analyses.

use crate::kernel::format::EventFormat;

/// An event of these fields: numbers of 8 bytes from offset 8 on, texts of 16 (`…comm`, `…_val`), and `caller`, an array to the end.
pub(crate) fn format(system: &str, name: &str, id: u16, fields: &[&str], print: &str) -> EventFormat {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n");
    text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
    text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
    text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
    text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
    let mut offset = 8;
    for field in fields {
        let (decl, size) = match *field {
            "caller" => ("unsigned long caller[]".to_owned(), 0),
            comm if comm.ends_with("comm") || comm.ends_with("_val") => (format!("char {comm}[16]"), 16),
            number => (format!("long {number}"), 8),
        };
        text += &format!("\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:1;\n");
        offset += size;
    }
    text += &format!("\nprint fmt: {print}\n");
    EventFormat::parse(system, &text).unwrap()
}

/// A record's bytes: its id and task, then what its fields hold.
pub(crate) fn record(id: u16, task: i32, fields: &[Vec<u8>]) -> Vec<u8> {
    let mut data = id.to_ne_bytes().to_vec();
    data.extend([0, 0]);
    data.extend(task.to_ne_bytes());
    data.extend(fields.concat());
    data
}

/// A number's field.
pub(crate) fn number(value: i64) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

/// A text's field.
pub(crate) fn comm(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(16, 0);
    bytes
}
