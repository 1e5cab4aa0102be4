//! All tests of this folder as one program: to build and link one is much faster than one for each file.

mod broken_texts;
mod cubicle_texts;
mod formats;
mod other_formats;
mod protocol_texts;
mod robustness;
