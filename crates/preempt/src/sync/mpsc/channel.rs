//! A channel as one object: sending, receiving and dropping an end are steps on it.
//!
//! On a rendezvous channel (of capacity 0) a sender waits until its message was received: each such meeting is an object of
//! its own, so that waiting for it does not conflict with other messages.

use crate::runtime::clock::Clock;
use crate::runtime::context::{Context, clear, set};
use crate::runtime::current::try_with;
use crate::runtime::identity::{ObjectTag, Tagged, resolve};
use crate::runtime::opcode::Opcode;
use crate::runtime::operate::{operate, operate_or_defer};
use crate::thread::timed_out;
use preempt_stateless::{ObjectId, Operation};
use std::collections::VecDeque;
use std::sync::mpsc::{TryRecvError, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of the gate: receiving need not wait; sending must.
const READY: u128 = 1;
const FULL: u128 = 2;

/// How long a receiver waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    None,
    /// The time may always have passed.
    TimeOut,
    Endless,
}

pub(super) struct State<T> {
    /// With what the sender knew.
    queue: VecDeque<(T, Clock)>,
    pub senders: usize,
    pub receiver: bool,
    capacity: Option<usize>,
    /// Of a rendezvous channel: the receiver waits for a sender.
    waiting: bool,
    /// Received so far: a rendezvous is over when its message was.
    received: u64,
    sent: u64,
}

impl<T> State<T> {
    /// The number of the message whose sender the receiver will meet, if senders wait to be met.
    fn next_meeting(&self) -> Option<u64> {
        (self.capacity == Some(0)).then_some(self.received + 1)
    }
}

/// Every rendezvous is an object of its own.
fn meeting_object(channel: ObjectId, number: u64) -> Option<ObjectId> {
    try_with(|context| context.part(channel, number))
}

pub(super) struct Channel<T> {
    tag: ObjectTag,
    /// Never contended: the modelled threads share an OS thread, and no step is taken while it is held.
    state: Mutex<State<T>>,
}

impl<T> Tagged for Channel<T> {
    fn tag(&self) -> &ObjectTag {
        &self.tag
    }
}

impl<T> Channel<T> {
    #[track_caller]
    fn name(&self) -> ObjectId {
        resolve(self).tag.id()
    }

    pub fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the gate.
    fn open(&self, context: &mut Context) {
        let state = self.state();
        let ready = !state.queue.is_empty() || state.senders == 0;
        // A rendezvous channel holds the one message whose sender waits.
        let full = state.receiver && state.capacity.is_some_and(|most| state.queue.len() >= most.max(1));
        let object = context.object(self.tag.id(), "channel");
        object.gate = if ready { READY } else { 0 } | if full { FULL } else { 0 };
    }

    /// Sends, once there is room if it is to `wait`.
    #[track_caller]
    pub fn send(&self, value: T, wait: bool) -> Result<(), TrySendError<T>> {
        let id = self.name();
        let operation = Operation::new(Opcode::Send).writes(id).releasing();
        let operation = if wait { operation.needs(clear(id, FULL)) } else { operation };
        let mut value = Some(value);
        let sent = operate(operation, "send", Some(id), |context| {
            let clock = context.me().clock.clone();
            let mut state = self.state();
            let full = state.capacity.is_some_and(|most| state.queue.len() >= most.max(1));
            // Who does not wait can hand over only what is being waited for.
            let full = full || !wait && state.capacity == Some(0) && !state.waiting;
            let sent = match value.take() {
                Some(value) if !state.receiver => Err(TrySendError::Disconnected(value)),
                Some(value) if full => Err(TrySendError::Full(value)),
                Some(value) => {
                    state.queue.push_back((value, clock));
                    state.sent += 1;
                    if std::mem::take(&mut state.waiting) {
                        context.acquire(id);
                    }
                    Ok(state.sent)
                }
                None => Ok(0),
            };
            drop(state);
            self.open(context);
            context.note_text(|_| match &sent {
                Ok(number) => format!(" message {number}"),
                Err(TrySendError::Full(_)) => " -> full".into(),
                Err(TrySendError::Disconnected(_)) => " -> disconnected".into(),
            });
            sent
        });
        match sent {
            None => match value.take() {
                Some(value) => Err(TrySendError::Disconnected(value)),
                None => Ok(()),
            },
            Some(Err(error)) => Err(error),
            Some(Ok(number)) => {
                let meets = { self.state().capacity == Some(0) };
                if wait && meets {
                    self.meet(number);
                }
                Ok(())
            }
        }
    }

    /// Waits until the message was received, or cannot be any more.
    #[track_caller]
    fn meet(&self, number: u64) {
        let Some(round) = meeting_object(self.tag.id(), number) else { return };
        operate(
            Operation::new(Opcode::Rendezvous).reads(round).needs(set(round, 1)),
            "rendezvous",
            Some(self.tag.id()),
            |context| {
                context.acquire(round);
            },
        );
    }

    /// Receives; on a rendezvous channel it first lets senders know that it is there, which is a step: `try_send` depends
    /// on it.
    #[track_caller]
    pub fn receive(&self, patience: Patience) -> Result<T, TryRecvError> {
        let announces = { self.state().capacity == Some(0) } && patience != Patience::None;
        if announces {
            match self.take("receive", false, true) {
                Err(TryRecvError::Empty) => {}
                received => return received,
            }
        }
        let verb = match patience {
            Patience::None => "try_recv",
            Patience::TimeOut => "receive or time out",
            Patience::Endless => "receive",
        };
        let received = self.take(verb, patience == Patience::Endless, false);
        if patience == Patience::TimeOut && matches!(received, Err(TryRecvError::Empty)) {
            timed_out();
        }
        received
    }

    /// Takes a message if there is one, or waits for it. Without one, `announce` lets senders know that it is waited for.
    #[track_caller]
    fn take(&self, verb: &'static str, wait: bool, announce: bool) -> Result<T, TryRecvError> {
        let id = self.name();
        // A rendezvous also lets its sender go on: the object of the message that is received next.
        let meeting = self.state().next_meeting();
        let round = meeting.and_then(|number| meeting_object(id, number));
        let operation = Operation::new(Opcode::Receive).writes(id).releasing();
        let operation = round.map_or(operation, |round| operation.writes(round));
        let operation = if wait { operation.needs(set(id, READY)) } else { operation };
        let received = operate(operation, verb, Some(id), |context| {
            let mut state = self.state();
            state.waiting = announce && state.queue.is_empty();
            if state.waiting {
                context.release(id);
            }
            let received = match state.queue.pop_front() {
                Some((value, clock)) => {
                    state.received += 1;
                    context.me().clock.join(&clock);
                    if let Some(round) = round {
                        context.object(round, "rendezvous").gate = 1;
                        context.release(round);
                    }
                    Ok(value)
                }
                None if state.senders == 0 => Err(TryRecvError::Disconnected),
                None => Err(TryRecvError::Empty),
            };
            let number = state.received;
            drop(state);
            self.open(context);
            context.note_text(|_| match &received {
                Ok(_) => format!(" message {number}"),
                Err(TryRecvError::Empty) => " -> empty".into(),
                Err(TryRecvError::Disconnected) => " -> disconnected".into(),
            });
            received
        });
        received.unwrap_or(Err(TryRecvError::Disconnected))
    }
}

impl<T: 'static> Channel<T> {
    /// One end is gone. If it was the receiver of a rendezvous channel, a sender that waits to be met must not wait for
    /// ever; only the receiver changes which one that is, so it is known beforehand.
    #[track_caller]
    pub fn close(
        self: &Arc<Self>,
        verb: &'static str,
        abandons: bool,
        change: impl FnOnce(&mut State<T>) + 'static,
    ) {
        let (channel, id) = (Arc::clone(self), self.name());
        let meeting = self.state().next_meeting().filter(|_| abandons);
        let round = meeting.and_then(|number| meeting_object(id, number));
        let operation = Operation::new(Opcode::CloseChannel).writes(id).releasing();
        let operation = round.map_or(operation, |round| operation.writes(round));
        operate_or_defer(operation, verb, Some(id), move |context| {
            change(&mut channel.state());
            channel.open(context);
            if let Some(round) = round {
                context.object(round, "rendezvous").gate = 1;
            }
        });
    }
}

/// A channel with one sender and the receiver.
#[track_caller]
pub(super) fn make<T>(capacity: Option<usize>) -> Arc<Channel<T>> {
    let state = State {
        queue: VecDeque::new(),
        senders: 1,
        receiver: true,
        capacity,
        waiting: false,
        received: 0,
        sent: 0,
    };
    Arc::new(Channel { tag: ObjectTag::new(), state: Mutex::new(state) })
}
