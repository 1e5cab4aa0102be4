//! PNML place/transition nets (ISO 15909-2): what editors export and the Model Checking Contest uses.

mod print;
mod read;

pub use print::{ids, print};
pub use read::{read, read_within};
