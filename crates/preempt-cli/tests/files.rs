//! Files that cannot be written, or not to their end: what can be known is known before the search, nothing is left half
//! written, and the exit status says that something is missing.

use crate::common;

use common::{BROKEN, ENDLESS, command, file, folder, names, preempt};
use std::process::Output;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_name_that_cannot_be_written_is_refused_before_the_search() {
    let folder = folder("files-before");
    let endless = file(&folder, "endless.pml", ENDLESS);
    let net = file(&folder, "net.spec", common::GROWING_NET);
    let nowhere = folder.join("nowhere/out");
    let nowhere = nowhere.to_str().expect("a name in Unicode");
    let inside = folder.to_str().expect("a name in Unicode");
    for arguments in [
        &["check", &endless, "--trace", nowhere][..],
        &["check", &endless, "--trace", inside],
        &["check", &endless, "--trail", nowhere],
        &["check", &endless, "--checkpoint", nowhere, "--property", "safety"],
        &["count", &endless, "--checkpoint", inside],
        &["check", &net, "--certificate", nowhere],
        &["sequentialize", &endless, "--contexts", "2", "-o", nowhere],
        &["convert", &net, nowhere, "--to", "spec"],
        // Nothing may be written over what is read, or twice.
        &["check", &endless, "--trace", &endless],
        &["convert", &net, &net],
        &["check", &endless, "--trace", &format!("{inside}/one"), "--trail", &format!("{inside}/./one")],
    ] {
        let output = preempt(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
        assert!(said(&output).starts_with("error: "), "{arguments:?}: {output:?}");
    }
    assert_eq!(names(&folder), ["endless.pml", "net.spec"]);
    assert_eq!(std::fs::read_to_string(&endless).expect("it is there"), ENDLESS);
}

#[cfg(target_os = "linux")]
#[test]
fn what_could_not_be_written_has_a_status_of_its_own() {
    let folder = folder("files-full");
    let broken = file(&folder, "broken.pml", BROKEN);
    for option in ["--trace", "--trail"] {
        let output = preempt(&["check", &broken, option, "/dev/full"]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("violated: "), "{output:?}");
        assert!(said(&output).contains("cannot write to `/dev/full`: the disk is full"), "{output:?}");
        assert!(said(&output).contains("the answer itself is: violated"), "{output:?}");
    }
    let endless = file(&folder, "endless.pml", ENDLESS);
    let output = preempt(&["count", &endless, "--max-states", "100", "--checkpoint", "/dev/full"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(said(&output).contains("cannot write to `/dev/full`"), "{output:?}");
    // Nobody needs the checkpoint of a search that has ended.
    let output = preempt(&["count", &broken, "--checkpoint", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_told_on_stderr() {
    let folder = folder("files-stdout");
    let broken = file(&folder, "broken.pml", BROKEN);
    for arguments in [
        &["check", &broken][..],
        &["count", &broken],
        &["engines"],
        &["check", "--help"],
        &["simulate", &broken],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = command(arguments).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {output:?}");
        if arguments[0] == "check" && arguments.len() == 2 && arguments[1] != "--help" {
            assert!(said(&output).contains("cannot write the result"), "{output:?}");
            assert!(said(&output).contains("the answer itself is: violated"), "{output:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_written_to_as_it_is() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder("files-devices");
    let broken = file(&folder, "broken.pml", BROKEN);
    let output = preempt(&["check", &broken, "--trace", "/dev/null"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let null = std::fs::metadata("/dev/null").expect("it is there");
    assert!(null.file_type().is_char_device());
    // The result and then the counterexample, in one stream.
    let output = preempt(&["check", &broken, "--trace", "/dev/stdout"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("violated: ") && text.contains("\"schema\": 2"), "{text}");
    let both = folder.join("both");
    let out = std::fs::File::create(&both).expect("a file can be written");
    command(&["check", &broken, "--trace", "/dev/stdout"]).stdout(out).status().expect("it runs");
    let written = std::fs::read_to_string(both).expect("it is there");
    assert_eq!(written.lines().count(), text.lines().count());
    assert!(written.starts_with("violated: ") && written.ends_with("}\n"), "{written}");
}
