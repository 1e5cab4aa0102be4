//! What `lazy_static!` of the packages `loom` and `shuttle` expands to. Not part of the interface.

/// As the trait of the crate `lazy_static`.
pub trait LazyStatic {
    /// Makes the value, if it is not there.
    fn initialize(lazy: &Self);
}

/// Statics that are made when a run first uses them. The first argument is the path of a module with a type `Lazy` that
/// has `new(fn() -> T)` and `get`.
#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    (($($module:tt)*)) => {};
    (
        ($($module:tt)*)
        $(#[$attr:meta])* $vis:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*
    ) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $vis struct $name { __private_field: () }
        #[doc(hidden)]
        $vis static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn init() -> $type {
                    $init
                }
                static LAZY: $($module)*::Lazy<$type> = $($module)*::Lazy::new(init);
                LAZY.get()
            }
        }
        impl $crate::lazy::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::__lazy_static! { ($($module)*) $($rest)* }
    };
}
