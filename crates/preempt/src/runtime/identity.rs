//! Which object of the current run a mirror is, and what becomes of objects that outlive a run.
//!
//! Nothing is registered when an object is created (`new` is const, as std's), but when a run first uses it. An object
//! belongs to one run: one that was created outside of the test and has been used by another run is refused, since
//! nobody could say what state it should be in. A *static* is never touched: every run works on a copy of its bytes. That
//! is sound because a static starts as a constant, and constants own no memory; and the copy's own destructor runs when
//! the run is over.

use super::context::Context;
use super::current::try_with;
use super::thread::CodeLocation;
use preempt_stateless::ObjectId;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// Part of every mirror.
#[derive(Debug)]
pub(crate) struct ObjectTag {
    /// The run that uses the object; 0 for none yet.
    run: AtomicU64,
    id: AtomicU64,
    /// Where the object was made.
    made: CodeLocation,
}

impl ObjectTag {
    /// Of an object that its caller makes.
    #[track_caller]
    pub const fn new() -> ObjectTag {
        ObjectTag { run: AtomicU64::new(0), id: AtomicU64::new(0), made: Location::caller() }
    }

    /// The run has met the object.
    fn register<O: ?Sized>(&self, context: &mut Context) {
        let id = context.fresh_object();
        let object = context.objects.get_mut(id);
        (object.type_name, object.made) = (std::any::type_name::<O>(), Some(self.made));
        self.id.store(id.0, Ordering::Relaxed);
    }

    /// The object's name, once [`resolve`] has found it.
    pub fn id(&self) -> ObjectId {
        ObjectId(self.id.load(Ordering::Relaxed))
    }
}

pub(crate) trait Tagged {
    fn tag(&self) -> &ObjectTag;
}

/// The copy of a static that a run works on.
pub(crate) struct StaticCopy {
    memory: *mut u8,
    discard: Box<dyn FnOnce()>,
}

impl StaticCopy {
    /// To be called while nothing borrows the context: the value's destructor is the user's.
    pub fn discard(self) {
        (self.discard)();
    }
}

/// The object as the current run has it: itself, or the run's copy of a static. Outside of a run, itself.
#[track_caller]
pub(crate) fn resolve<O: Tagged + ?Sized>(object: &O) -> &O {
    enum Found<'a, O: ?Sized> {
        Here(&'a O),
        Elsewhere,
    }
    let found = try_with(|context| {
        let tag = object.tag();
        match tag.run.load(Ordering::Relaxed) {
            run if run == context.run => Found::Here(object),
            0 if is_static(std::ptr::from_ref(object).addr()) => Found::Here(copy_of(object, context)),
            0 => match tag.run.compare_exchange(0, context.run, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    tag.register::<O>(context);
                    Found::Here(object)
                }
                Err(_) => Found::Elsewhere,
            },
            // While a run is cut destructors may come across anything.
            _ if context.cutting => Found::Here(object),
            _ => Found::Elsewhere,
        }
    });
    match found {
        None => object,
        Some(Found::Here(object)) => object,
        Some(Found::Elsewhere) => refuse(),
    }
}

/// What a run that uses an object of another one ends with.
pub(crate) const OUTLIVES_ITS_RUN: &str = "an object that was created outside of the test is used by more than one run, and \
    nobody can say what state it should be in: create it inside of the test, or make it a static";

/// The object has been used by another run.
#[track_caller]
pub(crate) fn refuse() -> ! {
    panic!("{OUTLIVES_ITS_RUN}")
}

/// The run's copy of a static, made when it is first used.
fn copy_of<'a, O: Tagged + ?Sized>(object: &'a O, context: &mut Context) -> &'a O {
    let address = std::ptr::from_ref(object).addr();
    let layout = Layout::for_value(object);
    let known = context.static_copies.get(&address).map(|copy| copy.memory);
    // SAFETY: the layout is that of a mirror, which has a tag and so is not of size zero.
    #[allow(unsafe_code)]
    let memory = known.unwrap_or_else(|| unsafe { alloc(layout) });
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // A pointer to the copy that knows the type of the object, also if it is unsized: the address is the first word of
    // any pointer.
    let mut pointer: *mut O = std::ptr::from_ref(object).cast_mut();
    // SAFETY: `pointer` begins with a thin pointer, see above.
    #[allow(unsafe_code)]
    unsafe {
        std::ptr::from_mut(&mut pointer).cast::<*mut u8>().write(memory);
    }
    if known.is_none() {
        // SAFETY: both are valid for so many bytes. The static is a constant that no run has changed (runs only get
        // copies), so its bytes own nothing, and two values with these bytes may exist.
        #[allow(unsafe_code)]
        unsafe {
            std::ptr::copy_nonoverlapping(std::ptr::from_ref(object).cast::<u8>(), memory, layout.size());
        }
        // SAFETY: it was just initialised with a value of the type.
        #[allow(unsafe_code)]
        let tag = unsafe { (*pointer).tag() };
        tag.run.store(context.run, Ordering::Relaxed);
        tag.register::<O>(context);
        let discard: Box<dyn FnOnce() + '_> = Box::new(move || {
            // SAFETY: it is called once, at the end of the run, when the run's threads are gone.
            #[allow(unsafe_code)]
            unsafe {
                std::ptr::drop_in_place(pointer);
                dealloc(memory, layout);
            }
        });
        // SAFETY: only the lifetime of the type is forgotten, and the object is a static.
        #[allow(unsafe_code)]
        let discard: Box<dyn FnOnce()> = unsafe { std::mem::transmute(discard) };
        context.static_copies.insert(address, StaticCopy { memory, discard });
    }
    // SAFETY: the copy lives as long as the run, and its memory does not move. References with a longer lifetime (a
    // static's are) must not leave the run, as the documentation of the crate demands.
    #[allow(unsafe_code)]
    unsafe {
        &*pointer
    }
}

/// Does the address lie in the program itself, and not in a stack or on the heap?
#[cfg(target_os = "linux")]
pub(crate) fn is_static(address: usize) -> bool {
    #[allow(unsafe_code)]
    mod linker {
        // SAFETY: linkers for ELF define both; only their addresses are used.
        unsafe extern "C" {
            pub static __executable_start: u8;
            pub static _end: u8;
        }
    }
    let (start, end) = (&raw const linker::__executable_start, &raw const linker::_end);
    (start.addr()..end.addr()).contains(&address)
}

/// Elsewhere it is not known how to find out; statics are refused by the second run that uses them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_static(_: usize) -> bool {
    false
}
