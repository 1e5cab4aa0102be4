//! What is printed is read as the same program.

use preempt_boolean::generator::{self, Shape};
use preempt_boolean::{Dialect, parse, print};
use preempt_core::SourceMap;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_dialect_reads_it_back(seed in any::<u64>()) {
        let program = generator::program(seed, &Shape::everything());
        let text = print::program(&program);
        for dialect in [None, Some(Dialect::Satabs), Some(Dialect::Getafix)] {
            let (read, diagnostics) = parse(&mut SourceMap::new(), "printed.bp", &text, dialect);
            prop_assert!(diagnostics.is_empty(), "{:?}\n{}", diagnostics, text);
            prop_assert!(read == program, "{}\n{}", text, print::program(&read));
        }
    }

    #[test]
    fn random_programs_are_well_formed(seed in any::<u64>()) {
        for shape in [Shape::everything(), Shape::recursive(3), Shape::small(2)] {
            let text = print::program(&generator::program(seed, &shape));
            let loaded = preempt_boolean::load("random.bp", &text, &Default::default());
            prop_assert!(loaded.diagnostics.is_empty(), "{:?}\n{}", loaded.diagnostics, text);
            prop_assert!(loaded.model.is_some());
        }
    }
}
