//! The fuzz targets without a fuzzer: the files of their corpus, and changes of these that are the same in every run, go
//! through the same functions. `PREEMPT_CASES=100000` for a long run.

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

#[path = "../../preempt-promela/tests/mutation/mod.rs"]
mod mutation;

use mutation::mutate;
use preempt_core::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use targets::{READERS, Reader};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Changes of each file.
fn cases() -> usize {
    std::env::var("PREEMPT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

/// What a fuzzer keeps is named by a sum of forty digits, and is not ours.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name.len() < 40));
    paths.sort();
    assert!(paths.len() >= 3, "{target} has {} files to begin with", paths.len());
    paths.iter().map(|path| fs::read(path).expect("it can be read")).collect()
}

/// Texts change by words and signs, and whatever it is by bytes.
fn changed(original: &[u8], random: &mut Rng) -> Vec<u8> {
    let signs: Vec<char> = "(){}[]<>;:,.-=!?&|*/%#\"'\\@ \n0189aé_".chars().collect();
    let mut bytes = original.to_vec();
    for _ in 0..=random.below(4) {
        if random.below(3) > 0
            && let Ok(text) = std::str::from_utf8(&bytes)
        {
            let mut text = text.to_string();
            mutate(&mut text, random, &signs);
            bytes = text.into_bytes();
            continue;
        }
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.below(256) as u8),
            2 => bytes.extend_from_within(at..),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    bytes
}

fn exercise(target: &str) {
    let (_, reader): (_, Reader) = READERS.into_iter().find(|(name, _)| *name == target).expect("a target");
    let mut random = Rng::new(0x9E37_79B9_7F4A_7C15);
    reader(&[]);
    let mut understood = 0;
    for original in corpus(target) {
        understood += usize::from(reader(&original));
        for _ in 0..cases() {
            reader(&changed(&original, &mut random));
        }
    }
    // Or nothing behind the first check would be reached.
    assert!(understood > 0, "no file of {target} is understood");
}

/// A test each, so that they run beside each other and one that fails is named.
macro_rules! exercised {
    ($($target:ident)*) => {
        const EXERCISED: &[&str] = &[$(stringify!($target)),*];
        $(#[test] fn $target() { exercise(stringify!($target)); })*
    };
}

exercised!(
    boolean certificate channels checkpoint cubicle grammar lola mcc pds pnml promela protocol protocol_certificate query remopla schedule spec tina tpn trace tts
);

#[test]
fn every_target_has_its_program_and_its_test() {
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).expect("the fuzz targets have a manifest");
    let programs: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""))
        .collect();
    assert_eq!(programs, EXERCISED);
    assert_eq!(READERS.map(|(name, _)| name), EXERCISED);
}
