//! Stores that do not keep states, random walks and swarms on the command line: from arguments to options, and from
//! options that do not go together to words about them.

use super::model::Ready;
use crate::args::{CheckArgs, ReductionKind, SearchArgs, SearchOrder, StoreKind};
use crate::backend::{
    self, Check, CheckError, Order, SearchOptions, SearchReport, Storage, SuccessorSource, Walks,
};
use crate::console::Failure;
use preempt_core::Progress;

/// The seed of random walks and swarms if none is given.
const SEED: u64 = 1;

/// Bits of a state in the store `bitstate`, and of a fingerprint, if nothing else is said.
const HASHES: u32 = 3;
const FINGERPRINT_BITS: u32 = 64;

/// The largest bound for which each state can have a copy for each number up to it.
const LARGEST_REPLICATED: u32 = 255;

/// The store, if it goes with everything else.
pub fn storage(search: &SearchArgs) -> Result<Storage, Failure> {
    let order = search.search.unwrap_or(SearchOrder::FewestPreemptions);
    let store = search.store.unwrap_or(StoreKind::Exact);
    let by_chance = matches!(order, SearchOrder::Random | SearchOrder::Swarm);
    let published = matches!(order, SearchOrder::NaiveBounded | SearchOrder::ContextBounded);
    let refused = |what: &str, hint: &str| Err(Failure::new(what).hint(hint));
    if search.fingerprint_bits.is_some() && store != StoreKind::Compact {
        return refused("only the compact store has fingerprints", "add --store compact");
    }
    if search.hashes.is_some() && store != StoreKind::Bitstate {
        return refused(
            "--hashes says how many bits a state has in the store bitstate",
            "add --store bitstate",
        );
    }
    if search.seed.is_some() && !by_chance {
        return refused("--seed is for searches that go by chance", "add --search random or --search swarm");
    }
    if search.walks.is_some() && order != SearchOrder::Random {
        return refused("--walks says how many random walks to make", "add --search random");
    }
    if order == SearchOrder::Random && search.store.is_some() {
        return refused("random walks store nothing", "leave out --store");
    }
    if order == SearchOrder::Swarm {
        if search.store.is_some() {
            return refused("a swarm chooses its stores itself", "leave out --store");
        }
        if search.max_time.is_none() {
            return refused("a swarm searches until its time is over", "say how long, as in --max-time 1m");
        }
    }
    if store == StoreKind::Exact {
        return Ok(Storage::Exact);
    }
    let name = if store == StoreKind::Compact { "compact" } else { "bitstate" };
    if search.paper_cycles || search.iterative_shortening {
        let option = if search.paper_cycles { "--paper-cycles" } else { "--iterative-shortening" };
        return refused(
            &format!("{option} must know more of each state than the store {name} keeps"),
            "leave out --store",
        );
    }
    if store == StoreKind::Compact {
        if published {
            return refused(
                "the published searches have an exact store or bits",
                "use --store bitstate, or leave out --search",
            );
        }
        return Ok(Storage::Compact { bits: search.fingerprint_bits.unwrap_or(FINGERPRINT_BITS) });
    }
    if order == SearchOrder::ContextBounded && search.bound.is_some_and(|bound| bound > LARGEST_REPLICATED) {
        return refused(
            "replicated storage has a copy of each state for each number of preemptions up to the bound",
            &format!("use a bound of at most {LARGEST_REPLICATED}, or leave out --store"),
        );
    }
    Ok(Storage::Bitstate { hashes: search.hashes.unwrap_or(HASHES), bits: None })
}

pub fn walks(search: &SearchArgs) -> Order {
    Order::Random(Walks { seed: search.seed.unwrap_or(SEED), most: search.walks })
}

/// Does the search keep the states that it meets?
pub fn keeps_states(search: &SearchArgs) -> bool {
    !matches!(search.search, Some(SearchOrder::Random | SearchOrder::Swarm))
        && matches!(search.store, None | Some(StoreKind::Exact))
}

/// What `check` may ask for beside the verdict.
pub fn refuse_more(args: &CheckArgs) -> Result<(), Failure> {
    let search = &args.search;
    if keeps_states(search) {
        return Ok(());
    }
    if args.all_errors {
        return Err(Failure::new("--all-errors needs a search that keeps the states it met")
            .hint("leave out --store and --search"));
    }
    let reduction = args.reduction.unwrap_or(ReductionKind::Auto);
    let by_chance = matches!(search.search, Some(SearchOrder::Random | SearchOrder::Swarm));
    if by_chance && !matches!(reduction, ReductionKind::Auto | ReductionKind::None) {
        return Err(Failure::new("a search that goes by chance has no reduction of its own")
            .hint("leave out --reduction"));
    }
    if reduction == ReductionKind::Paper {
        return Err(Failure::new("--reduction paper must know more of each state than bits")
            .hint("leave out --store or --reduction"));
    }
    Ok(())
}

/// Cycles are looked for where states are kept; and an observer makes a state more than the model's.
pub fn refuse_beyond_safety(search: &SearchArgs, questions: &[Check]) -> Result<(), Failure> {
    if keeps_states(search) || questions.iter().all(|question| *question == Check::Safety) {
        return Ok(());
    }
    let name = if search.store.is_some() { "--store" } else { "--search" };
    Err(Failure::new(format!("this {name} applies to safety only, and this model asks for more"))
        .hint("add --property safety, and check the rest apart"))
}

/// Walks and swarms look for a violation.
pub fn refuse_to_count(search: &SearchArgs) -> Result<(), Failure> {
    match search.search {
        Some(SearchOrder::Random | SearchOrder::Swarm) => {
            Err(Failure::new("a search that goes by chance looks for an error and does not count")
                .hint("use `check`, or leave out --search"))
        }
        _ => Ok(()),
    }
}

/// What can be promised of the run that was found.
pub fn promise(options: &SearchOptions, promise: Option<&'static str>) -> Option<&'static str> {
    match (options.store, options.order) {
        (Storage::Exact, _) => promise,
        (Storage::Compact { .. }, _) => promise.map(|_| "the simplest run that fingerprints tell apart"),
        (Storage::Bitstate { .. }, Order::ByCost) => Some("the simplest run found"),
        (Storage::Bitstate { .. }, _) => None,
    }
}

/// Many searches, on as many threads as the machine has.
pub fn swarm(
    ready: &Ready,
    search: &SearchArgs,
    options: &SearchOptions,
    progress: &mut dyn Progress,
) -> Result<SearchReport, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let seed = search.seed.unwrap_or(SEED);
    let mut run = |options: &SearchOptions| {
        backend::swarm(&ready.model, &ready.sources, options, seed, threads, progress)
    };
    let result = match run(options) {
        Err(CheckError::Unsupported(_))
            if search.successors.is_none() && options.successors == SuccessorSource::Native =>
        {
            run(&SearchOptions { successors: SuccessorSource::Interpreted, ..options.clone() })
        }
        result => result,
    };
    result.map_err(|why| Failure::new(why.to_string()).hint("use --engine reference"))
}
