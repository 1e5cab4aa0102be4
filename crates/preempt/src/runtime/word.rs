//! The memory of atomics. An atomic has the size of a word, as std's `AtomicUsize` has, so there is no room for a tag. When a
//! run first uses an atomic it takes its value away, into the run's object, and leaves the object's *name* in its place.
//!
//! So the name goes along when the atomic is moved, and is gone when the memory gets another value: nothing has to be
//! known about drops, `mem::forget`, `MaybeUninit` or memory that is used again. That is why objects are not found by
//! their addresses: an allocator hands those out as the interleaving has it, and nothing marks the end of an atomic.
//!
//! **Invariant:** a name is distinguished from a value by its bits alone: it is the number of the run and that of the object,
//! multiplied by an odd constant. A random value is mistaken for a name with probability 2⁻⁶⁴ for each object of the run.

use super::context::Context;
use super::current::{outside, try_with};
use super::identity::is_static;
use super::object::Objects;
use preempt_stateless::ObjectId;
use std::cell::{RefCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// Odd, with the bits of the golden ratio, and its inverse modulo 2⁶⁴.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
const GATHER: u64 = 0xf1de_83e1_9937_733d;
const _: () = assert!(SCATTER.wrapping_mul(GATHER) == 1);

/// So many bits of a name are the object's number; the others are the run's.
const OBJECT_BITS: u32 = 24;

/// Names of so many earlier runs are recognised, to refuse atomics that outlive their run.
const RECENT: u64 = 64;

fn name(run: u64, object: ObjectId) -> u64 {
    assert!(object.0 >> OBJECT_BITS == 0, "one run uses more than 16 million objects");
    (run << OBJECT_BITS | object.0).wrapping_mul(SCATTER)
}

fn unname(bits: u64) -> (u64, ObjectId) {
    let plain = bits.wrapping_mul(GATHER);
    (plain >> OBJECT_BITS, ObjectId(plain & ((1 << OBJECT_BITS) - 1)))
}

/// Bytes of a value of at most eight, also of a pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes(MaybeUninit<u64>);

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes(MaybeUninit::new(0))
    }
}

impl Bytes {
    fn of<T: Copy>(value: T) -> Bytes {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        let mut bytes = Bytes::default();
        // SAFETY: it fits, see above.
        #[allow(unsafe_code)]
        unsafe {
            bytes.0.as_mut_ptr().cast::<T>().write(value);
        }
        bytes
    }

    /// Of the type that they were made of.
    fn get<T: Copy>(&self) -> T {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        // SAFETY: `of` has put a value of the type there: an object belongs to one word.
        #[allow(unsafe_code)]
        unsafe {
            self.0.as_ptr().cast::<T>().read()
        }
    }
}

/// What is in the memory: a value, or the name of the object that has it.
#[repr(C)]
union Slot<T: Copy> {
    value: T,
    bits: u64,
}

/// What all atomics are made of.
#[repr(transparent)]
pub(crate) struct Word<T: Value> {
    slot: UnsafeCell<Slot<T>>,
}

// SAFETY: the modelled threads share one OS thread. Of several OS threads one at a time can take the value away, by a
// compare-and-exchange; the others find its name and refuse.
#[allow(unsafe_code)]
unsafe impl<T: Value + Send> Sync for Word<T> {}

/// A run that is over: its number and its objects.
#[derive(Default)]
pub(crate) struct PastRun {
    run: u64,
    objects: Objects,
}

thread_local! {
    /// For atomics that are looked at after the run: that of this OS thread that was over last. Other OS threads have their
    /// own, since tests run side by side.
    static LAST: RefCell<PastRun> = const { RefCell::new(PastRun { run: 0, objects: Objects::none() }) };
}

/// The run is over; its values can be read until the next one is. The context gets the objects of the one before.
pub(crate) fn keep(context: &mut Context) {
    let objects = std::mem::take(&mut context.objects);
    context.objects = LAST.replace(PastRun { run: context.run, objects }).objects;
}

/// Takes the last run of this OS thread away, for [`hand_over`].
pub(crate) fn last_run() -> PastRun {
    LAST.take()
}

/// A search has ended on another OS thread: its last run is this thread's.
pub(crate) fn hand_over(past: PastRun) {
    LAST.replace(past);
}

/// What an atomic can hold, and how people see it.
pub(crate) trait Value: Copy {
    /// The type of the atomic.
    const ATOMIC: &'static str;

    /// For people. It must be the same whenever the same run is repeated.
    fn show(self, context: &mut Context) -> String;
}

macro_rules! values {
    ($($type:ty => $atomic:literal),*) => {
        $(
            impl Value for $type {
                const ATOMIC: &'static str = $atomic;

                fn show(self, _: &mut Context) -> String {
                    self.to_string()
                }
            }
        )*
    };
}

values!(
    i8 => "AtomicI8", i16 => "AtomicI16", i32 => "AtomicI32", i64 => "AtomicI64", isize => "AtomicIsize",
    u8 => "AtomicU8", u16 => "AtomicU16", u32 => "AtomicU32", u64 => "AtomicU64", usize => "AtomicUsize",
    bool => "AtomicBool"
);

impl<T> Value for *mut T {
    const ATOMIC: &'static str = "AtomicPtr";

    /// Addresses differ from run to run, so they are numbered as they come: `null`, `&1`, `&2`, ...
    fn show(self, context: &mut Context) -> String {
        if self.is_null() {
            return "null".into();
        }
        let known = context.addresses.iter().position(|address| *address == self.addr());
        let number = known.unwrap_or_else(|| {
            context.addresses.push(self.addr());
            context.addresses.len() - 1
        });
        format!("&{}", number + 1)
    }
}

impl<T: Value> Word<T> {
    pub const fn new(value: T) -> Word<T> {
        let mut slot = Slot { bits: 0 };
        slot.value = value;
        Word { slot: UnsafeCell::new(slot) }
    }

    fn bits(&self) -> &AtomicU64 {
        // SAFETY: a slot is eight initialised bytes, aligned as a word is, and lives as long as `self`.
        #[allow(unsafe_code)]
        unsafe {
            AtomicU64::from_ptr(self.slot.get().cast::<u64>())
        }
    }

    /// The value in the memory, if there is no name.
    fn plain(&self) -> T {
        // SAFETY: whoever calls has seen that it is no name; then it is the value that `new` has put there.
        #[allow(unsafe_code)]
        unsafe {
            (*self.slot.get()).value
        }
    }

    /// The atomic's object in the current run.
    ///
    /// # Panics
    /// Outside of a run, and if an earlier run has used the atomic.
    #[track_caller]
    pub fn object(&self) -> ObjectId {
        let found = try_with(|context| self.find(context)).unwrap_or_else(|| outside());
        found.unwrap_or_else(|| super::identity::refuse())
    }

    #[inline]
    fn find(&self, context: &mut Context) -> Option<ObjectId> {
        let bits = self.bits().load(Ordering::Relaxed);
        let (run, object) = unname(bits);
        if run == context.run && context.objects.get(object).is_some() {
            return Some(object);
        }
        self.take_over(bits, run, context)
    }

    /// The first use in a run.
    #[cold]
    fn take_over(&self, bits: u64, run: u64, context: &mut Context) -> Option<ObjectId> {
        if run > 0 && run < context.run && run + RECENT >= context.run {
            return None;
        }
        let address = std::ptr::from_ref(self).addr();
        if is_static(address) {
            // Statics are never touched: every run starts with their values as they were declared.
            return Some(match context.static_words.get(&address) {
                Some(object) => *object,
                None => {
                    let object = context.adopt(self.plain());
                    context.static_words.insert(address, object);
                    object
                }
            });
        }
        let value = self.plain();
        let object = context.adopt(value);
        let mine = name(context.run, object);
        self.bits().compare_exchange(bits, mine, Ordering::Relaxed, Ordering::Relaxed).ok().map(|_| object)
    }

    /// The value now, also after the run that used the atomic.
    pub fn peek(&self) -> T {
        match try_with(|context| self.find(context).map(|object| context.peek(object))) {
            Some(Some(value)) => value,
            // Of an earlier run, or of none.
            _ => self.remembered().map_or_else(|| self.plain(), |bytes| bytes.get()),
        }
    }

    fn remembered(&self) -> Option<Bytes> {
        let (run, object) = unname(self.bits().load(Ordering::Relaxed));
        let find = |last: &RefCell<PastRun>| {
            let last = last.borrow();
            last.objects.get(object).filter(|_| last.run == run).map(|object| object.value)
        };
        LAST.try_with(find).ok().flatten()
    }

    /// Changes the value without a step.
    pub fn poke(&self, value: T) {
        let done = try_with(|context| self.find(context).map(|object| context.poke(object, value)));
        if done.flatten().is_none() {
            // SAFETY: outside of runs nobody else can be here, but by the user's own OS threads, whose data race it is.
            #[allow(unsafe_code)]
            unsafe {
                *self.slot.get() = Slot { bits: 0 };
                (*self.slot.get()).value = value;
            }
        }
    }

    /// The value goes back into the memory, and the object ends: who has the word for itself may do as it likes.
    pub fn get_mut(&mut self) -> &mut T {
        let value = self.peek();
        *self = Word::new(value);
        // SAFETY: it was just put there.
        #[allow(unsafe_code)]
        unsafe {
            &mut self.slot.get_mut().value
        }
    }
}

impl Context {
    fn adopt<T: Value>(&mut self, value: T) -> ObjectId {
        let id = self.fresh_object();
        let object = self.object(id, "atomic");
        (object.type_name, object.value) = (T::ATOMIC, Bytes::of(value));
        id
    }

    pub fn peek<T: Copy>(&self, object: ObjectId) -> T {
        self.objects.get(object).map_or_else(Bytes::default, |object| object.value).get()
    }

    pub fn poke<T: Copy>(&mut self, object: ObjectId, value: T) {
        self.objects.get_mut(object).value = Bytes::of(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_read_and_values_are_none() {
        for (run, object) in [(1, 1), (1, 2), (77, 12_345), (1 << 39, (1 << 24) - 1)] {
            assert_eq!(unname(name(run, ObjectId(object))), (run, ObjectId(object)));
        }
        for bits in (0..1 << 16).flat_map(|small: u64| [small, !small, small << 48, 0x7fff_0000_0000 | small])
        {
            assert!(unname(bits).0 == 0 || unname(bits).0 > 1 << 20, "{bits:x} looks like a name");
        }
    }
}
