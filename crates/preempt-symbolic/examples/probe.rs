use preempt_symbolic::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap();
    let k: Option<u32> = args.next().and_then(|k| k.parse().ok());
    let method = if args.next().as_deref() == Some("eager") { Method::Eager } else { Method::Lazy };
    let text = std::fs::read_to_string(&file).unwrap();
    let (model, sources) = if file.ends_with(".bp") {
        let l = preempt_boolean::load(&file, &text, &Default::default());
        for d in l.diagnostics.iter().filter(|d| d.is_error()) {
            eprintln!("{d:?}");
        }
        (l.model.unwrap(), l.sources)
    } else {
        let l = preempt_promela::load(&file, &text, &Default::default(), &mut |_| Err("no".into()));
        (l.model.unwrap(), l.sources)
    };
    let options = Options {
        contexts: k,
        method,
        limits: preempt_core::Limits { time: Some(std::time::Duration::from_secs(60)), ..Default::default() },
        ..Default::default()
    };
    match check(&model, &sources, &options, &mut preempt_core::Silent) {
        Err(e) => println!("{file}: {e}"),
        Ok(r) => println!(
            "{file}: {:?} K={} {:?} threads={} steps={:?} switches={:?} nodes={} {:.2}s",
            r.outcome.verdict,
            r.contexts,
            r.outcome.guarantee,
            r.threads.len(),
            r.outcome.counterexample.as_ref().map(|t| t.steps.len()),
            r.outcome.counterexample.as_ref().map(|t| t.switches()),
            r.nodes,
            r.outcome.stats.time.as_secs_f64()
        ),
    }
}
