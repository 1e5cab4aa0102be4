//! Options that are one of several words.

/// A type for each, with its words in the order of the help.
macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the help of each option says what its words mean")]
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl $name {
            /// Every word that stands for one of them.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for it.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err(format!("`{text}` is none of {}", $name::WORDS.join(", "))),
                }
            }
        }
    )+};
}

choices! {
    /// Who wrote a Boolean program: the dialects differ in how strongly `=` and `!=` bind.
    Dialect { Satabs = "satabs", Getafix = "getafix", }

    /// In which order states are visited.
    SearchOrder {
        /// The simplest runs first.
        FewestPreemptions = "fewest-preemptions",
        /// The shortest runs first.
        BreadthFirst = "breadth-first",
        DepthFirst = "depth-first",
        /// Holzmann and Florian's Fig. 2.
        NaiveBounded = "naive-bounded",
        /// Holzmann and Florian's Fig. 3.
        ContextBounded = "context-bounded",
        /// Random walks.
        Random = "random",
        /// Many different searches.
        Swarm = "swarm",
    }

    /// What is kept of each state.
    StoreKind { Exact = "exact", Compact = "compact", Bitstate = "bitstate", }

    /// What is to be fewest, before the steps.
    CostUnit { Preemptions = "preemptions", Switches = "switches", Steps = "steps", }

    /// How steps are computed.
    SuccessorsKind { Native = "native", Interpreted = "interpreted", }

    /// Whether dead variables are forgotten and private steps merged.
    Simplify { On = "on", Off = "off", }

    /// Whether states that differ in the order of interchangeable processes are one.
    Symmetry { Auto = "auto", Off = "off", }

    /// Which steps need not be tried in every order.
    Reduction { Auto = "auto", Exact = "exact", Strong = "strong", Paper = "paper", None = "none", }

    /// How threads are analysed.
    Method {
        /// Explicit rounds and decision diagrams, in turns.
        Portfolio = "portfolio",
        /// Explicit rounds: states one by one, with real stacks.
        Rounds = "rounds",
        /// Only what the other threads can do.
        Lazy = "lazy",
        /// Whatever they might do.
        Eager = "eager",
        /// As rules on stacks.
        Pushdown = "pushdown",
    }

    /// From which end a pushdown system is analysed.
    Direction {
        /// What can be reached.
        Forward = "forward",
        /// What can lead to an error.
        Backward = "backward",
    }

    /// The order of the variables of decision diagrams.
    VariableOrder { Trial = "trial", Dependencies = "dependencies", Declared = "declared", }
}
