//! The steps on an atomic: loads, stores and read-modify-writes, and what their orderings make known.
//!
//! Values are sequentially consistent. An ordering decides what a thread knows afterwards (C++20's release sequences and
//! fences): a release gives the object the thread's clock, an acquire takes the object's.

use super::Ordering;
use crate::runtime::context::{Context, Note, set};
use crate::runtime::current::{active, try_with};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::operate;
use crate::runtime::word::{Value, Word};
use preempt_stateless::{ObjectId, Operation};
use std::panic::Location;

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

/// The thread has read what the object's release sequence published.
fn read(context: &mut Context, id: ObjectId, order: Ordering) {
    context.access_atomically(id, false);
    let Context { threads, objects, current, .. } = context;
    let (me, object) = (&mut threads[*current], objects.get_mut(id));
    match acquires(order) {
        true => me.clock.join(&object.clock),
        // An acquire fence may follow.
        false => me.acquirable.join(&object.clock),
    }
}

/// A store ends the release sequence before it, a read-modify-write continues it.
fn write(context: &mut Context, id: ObjectId, order: Ordering, modify: bool) {
    context.access_atomically(id, true);
    let Context { threads, objects, current, .. } = context;
    let (me, object) = (&threads[*current], objects.get_mut(id));
    if !modify {
        object.clock.clear();
    }
    object.clock.join(if releases(order) { &me.clock } else { &me.fenced });
}

/// As `std::sync::atomic::fence`; no step.
///
/// # Panics
/// If the ordering is `Relaxed`, as std's does.
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    try_with(|context| {
        if context.threads.is_empty() {
            return;
        }
        let current = context.current;
        let me = context.me();
        if acquires(order) {
            let known = me.acquirable.clone();
            me.clock.join(&known);
        }
        if releases(order) {
            me.fenced = me.clock.clone();
            me.clock.tick(current);
        }
    });
}

/// Of a load, or of an exchange that fails: std panics too.
#[track_caller]
fn no_release(order: Ordering) {
    let release = matches!(order, Ordering::Release | Ordering::AcqRel);
    assert!(!release, "there is no such thing as a release load, nor an exchange that fails with one");
}

/// How a read-modify-write is done.
pub(super) struct Modification<T> {
    verb: &'static str,
    success: Ordering,
    failure: Ordering,
    /// It may fail spuriously.
    weak: bool,
    arguments: Arguments<T>,
}

/// What it was called with, for people.
#[derive(Clone, Copy)]
pub(super) enum Arguments<T> {
    None,
    One(T),
    /// The value that is expected, and the new one.
    Exchange(T, T),
}

impl<T: Value> Modification<T> {
    /// One that always succeeds.
    pub fn always(verb: &'static str, order: Ordering, arguments: Arguments<T>) -> Modification<T> {
        Modification { verb, success: order, failure: order, weak: false, arguments }
    }

    /// A compare-and-exchange.
    #[track_caller]
    pub fn exchange(current: T, new: T, success: Ordering, failure: Ordering, weak: bool) -> Modification<T> {
        no_release(failure);
        let verb = if weak { "compare_exchange_weak" } else { "compare_exchange" };
        Modification { verb, success, failure, weak, arguments: Arguments::Exchange(current, new) }
    }

    /// `(1) -> 0`, `(0 -> 1)`, `(0 -> 1) failed: 2`: what it was given and has found.
    fn note(&self, old: T, new: Option<T>, context: &mut Context) -> Note {
        let found = old.show(context);
        let text = match (self.arguments, new) {
            (Arguments::None, _) => format!(" -> {found}"),
            (Arguments::One(value), _) => format!("({}) -> {found}", value.show(context)),
            (Arguments::Exchange(from, to), changed) => {
                let (from, to) = (from.show(context), to.show(context));
                match changed {
                    Some(_) => format!("({from} -> {to})"),
                    None => format!("({from} -> {to}) failed: {found}"),
                }
            }
        };
        Note { text, value: new.map(|new| new.show(context)) }
    }
}

impl<T: Value> Word<T> {
    #[track_caller]
    pub(super) fn load(&self, order: Ordering) -> T {
        no_release(order);
        let id = self.object();
        let loaded = operate(Operation::new(Opcode::Load).reads(id), "load", Some(id), |context| {
            read(context, id, order);
            let value: T = context.peek(id);
            context.note_text(|context| format!(" -> {}", value.show(context)));
            value
        });
        loaded.unwrap_or_else(|| self.peek())
    }

    #[track_caller]
    pub(super) fn store(&self, value: T, order: Ordering) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "there is no such thing as an acquire store"
        );
        self.store_with(value, order, |_, _| ());
    }

    /// A store with a further effect on the object.
    #[track_caller]
    fn store_with(&self, value: T, order: Ordering, effect: impl FnOnce(&mut Context, ObjectId)) {
        let id = self.object();
        let operation = Operation::new(Opcode::Store).writes(id).releasing();
        let stored = operate(operation, "store", Some(id), |context| {
            write(context, id, order, false);
            context.poke(id, value);
            context.note(|context| {
                let value = value.show(context);
                Note { text: format!("({value})"), value: Some(value) }
            });
            effect(context, id);
        });
        if stored.is_none() {
            self.poke(value);
        }
    }

    /// Changes the value if `change` says so; returns the old one, and whether it was changed.
    #[track_caller]
    pub(super) fn modify(&self, how: Modification<T>, change: impl Fn(T) -> Option<T>) -> (T, bool) {
        let id = self.object();
        let weak = how.weak && try_with(|context| context.may_be_spurious()) == Some(true);
        let operation = Operation::new(Opcode::Modify).writes(id).releasing().may_be_spurious(weak);
        let modified = operate(operation, how.verb, Some(id), |context| {
            let old = context.peek(id);
            let new = change(old).filter(|_| !context.spurious);
            context.note(|context| how.note(old, new, context));
            match new {
                Some(new) => {
                    read(context, id, how.success);
                    write(context, id, how.success, true);
                    context.poke(id, new);
                    (old, true)
                }
                None => {
                    read(context, id, how.failure);
                    (old, false)
                }
            }
        });
        modified.unwrap_or_else(|| {
            let old = self.peek();
            let new = change(old);
            new.into_iter().for_each(|new| self.poke(new));
            (old, new.is_some())
        })
    }

    /// An access that is not atomic, to be checked for data races.
    #[track_caller]
    pub(super) fn record_access(&self, write: bool) {
        let location = Location::caller();
        if active() {
            let id = self.object();
            try_with(|context| context.access_plainly(id, write, location));
        }
    }
}

impl<T: Value + PartialEq> Word<T> {
    /// `Ok` with the old value if that was `current`, and `Err` with it if it was another one.
    #[track_caller]
    pub(super) fn exchange(&self, current: T, new: T, how: Modification<T>) -> Result<T, T> {
        match self.modify(how, |old| (old == current).then_some(new)) {
            (old, true) => Ok(old),
            (old, false) => Err(old),
        }
    }
}

impl Word<bool> {
    /// A store of `true`, with release, that lets those go on who wait in [`Word::wait_open`].
    #[track_caller]
    pub(super) fn open(&self) {
        self.store_with(true, Ordering::Release, |context, id| context.objects.get_mut(id).gate = 1);
    }

    /// A load, with acquire, that waits until the value is `true`.
    #[track_caller]
    pub(super) fn wait_open(&self) {
        let id = self.object();
        let operation = Operation::new(Opcode::Load).reads(id).needs(set(id, 1));
        operate(operation, "wait", Some(id), |context| read(context, id, Ordering::Acquire));
    }
}
