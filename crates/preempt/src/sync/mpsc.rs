//! `std::sync::mpsc`: channels. A channel is one object; sending, receiving and dropping an end are steps.

use crate::runtime::clock::Clock;
use crate::runtime::context::{Context, clear, set, try_with};
use crate::runtime::operate::{operate, operate_later};
use crate::runtime::place::{Tag, Tagged, here};
use crate::thread::timed_out;
use preempt_stateless::{ObjectId, Operation};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// Of the gate: receiving need not wait; sending must.
const READY: u128 = 1;
const FULL: u128 = 2;

/// How long a receiver waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    None,
    /// The time may always have passed.
    TimeOut,
    Endless,
}

struct State<T> {
    /// With what the sender knew.
    queue: VecDeque<(T, Clock)>,
    senders: usize,
    receiver: bool,
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

struct Channel<T> {
    tag: Tag,
    /// Never contended: the modelled threads share an OS thread, and no step is taken while it is held.
    state: Mutex<State<T>>,
}

impl<T> Tagged for Channel<T> {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T> Channel<T> {
    #[track_caller]
    fn name(&self) -> ObjectId {
        here(self).tag.id()
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, context: &mut Context) {
        let state = self.state();
        let ready = !state.queue.is_empty() || state.senders == 0;
        // A rendezvous channel holds the one message whose sender waits.
        let full = state.receiver && state.capacity.is_some_and(|most| state.queue.len() >= most.max(1));
        let object = context.object(self.tag.id(), "channel");
        object.gate = if ready { READY } else { 0 } | if full { FULL } else { 0 };
    }

    #[track_caller]
    fn send(&self, value: T, wait: bool) -> Result<(), TrySendError<T>> {
        let id = self.name();
        let operation = Operation::local(50).writes(id).releasing();
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
            Operation::local(51).reads(round).needs(set(round, 1)),
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
    fn receive(&self, patience: Patience) -> Result<T, TryRecvError> {
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

    /// Takes a message if there is one, or waits for it. Without one, `announce` tells senders that it is waited for.
    #[track_caller]
    fn take(&self, verb: &'static str, wait: bool, announce: bool) -> Result<T, TryRecvError> {
        let id = self.name();
        // A rendezvous also lets its sender go on: the object of the message that is received next.
        let meeting = self.state().next_meeting();
        let round = meeting.and_then(|number| meeting_object(id, number));
        let operation = Operation::local(52).writes(id).releasing();
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
            drop(state);
            self.open(context);
            received
        });
        received.unwrap_or(Err(TryRecvError::Disconnected))
    }
}

impl<T: 'static> Channel<T> {
    /// One end is gone. If it was the receiver of a rendezvous channel, a sender that waits to be met must not wait for
    /// ever; only the receiver changes which one that is, so it is known beforehand.
    #[track_caller]
    fn close(
        self: &Arc<Self>,
        verb: &'static str,
        abandons: bool,
        change: impl FnOnce(&mut State<T>) + 'static,
    ) {
        let (channel, id) = (Arc::clone(self), self.name());
        let meeting = self.state().next_meeting().filter(|_| abandons);
        let round = meeting.and_then(|number| meeting_object(id, number));
        let operation = Operation::local(53).writes(id).releasing();
        let operation = round.map_or(operation, |round| operation.writes(round));
        operate_later(operation, verb, Some(id), move |context| {
            change(&mut channel.state());
            channel.open(context);
            if let Some(round) = round {
                context.object(round, "rendezvous").gate = 1;
            }
        });
    }
}

fn make<T>(capacity: Option<usize>) -> Arc<Channel<T>> {
    let state = State {
        queue: VecDeque::new(),
        senders: 1,
        receiver: true,
        capacity,
        waiting: false,
        received: 0,
        sent: 0,
    };
    Arc::new(Channel { tag: Tag::new(), state: Mutex::new(state) })
}

/// As `std::sync::mpsc::channel`.
pub fn channel<T: 'static>() -> (Sender<T>, Receiver<T>) {
    let channel = make(None);
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// As `std::sync::mpsc::sync_channel`.
pub fn sync_channel<T: 'static>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = make(Some(bound));
    (SyncSender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// As `std::sync::mpsc::Sender`.
pub struct Sender<T: 'static> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel.send(value, true).map_err(lost)
    }
}

fn lost<T>(error: TrySendError<T>) -> SendError<T> {
    match error {
        TrySendError::Full(value) | TrySendError::Disconnected(value) => SendError(value),
    }
}

/// As `std::sync::mpsc::SyncSender`.
pub struct SyncSender<T: 'static> {
    channel: Arc<Channel<T>>,
}

impl<T> SyncSender<T> {
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel.send(value, true).map_err(lost)
    }

    /// # Errors
    /// If the channel is full or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.channel.send(value, false)
    }
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            /// No step: a sender can only be cloned by who has one, so nobody can see the difference.
            fn clone(&self) -> Self {
                self.channel.state().senders += 1;
                $name { channel: Arc::clone(&self.channel) }
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                self.channel.close("drop sender", false, |state| state.senders -= 1);
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

/// As `std::sync::mpsc::Receiver`.
pub struct Receiver<T: 'static> {
    channel: Arc<Channel<T>>,
}

impl<T> Receiver<T> {
    /// # Errors
    /// If all senders are gone and no message is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.receive(Patience::Endless).map_err(|_| RecvError)
    }

    /// # Errors
    /// If no message is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.receive(Patience::None)
    }

    /// # Errors
    /// If all senders are gone, or whenever no message is there: the time may always have passed.
    #[track_caller]
    pub fn recv_timeout(&self, _: std::time::Duration) -> Result<T, RecvTimeoutError> {
        self.channel.receive(Patience::TimeOut).map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

/// As `std::sync::mpsc::Iter`.
#[derive(Debug)]
pub struct Iter<'a, T: 'static> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

/// As `std::sync::mpsc::TryIter`.
#[derive(Debug)]
pub struct TryIter<'a, T: 'static> {
    receiver: &'a Receiver<T>,
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// As `std::sync::mpsc::IntoIter`.
#[derive(Debug)]
pub struct IntoIter<T: 'static> {
    receiver: Receiver<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.channel.close("drop receiver", true, |state| state.receiver = false);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
