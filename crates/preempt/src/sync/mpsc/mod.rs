//! `std::sync::mpsc`: channels. Sending, receiving and dropping an end are steps.
//!
//! ```
//! use preempt::{sync::mpsc, thread};
//!
//! preempt::check(|| {
//!     let (sender, receiver) = mpsc::channel();
//!     let other = sender.clone();
//!     let child = thread::spawn(move || other.send(1).unwrap());
//!     sender.send(2).unwrap();
//!     drop(sender);
//!     child.join().unwrap();
//!     let messages: Vec<i32> = receiver.iter().collect();
//!     assert!(messages == [1, 2] || messages == [2, 1]);
//! });
//! ```

mod channel;

use crate::runtime::current::try_with;
use channel::{Channel, Patience, make};
use std::fmt;
use std::sync::Arc;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// As `std::sync::mpsc::channel`: with room for any number of messages.
#[track_caller]
pub fn channel<T: 'static>() -> (Sender<T>, Receiver<T>) {
    let channel = make(None);
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// As `std::sync::mpsc::sync_channel`: with room for so many messages; with room for none, sender and receiver meet.
#[track_caller]
pub fn sync_channel<T: 'static>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = make(Some(bound));
    (SyncSender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// As `std::sync::mpsc::Sender`.
pub struct Sender<T: 'static> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    /// Sends; never waits.
    ///
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
    /// Waits until there is room, and sends.
    ///
    /// # Errors
    /// If the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel.send(value, true).map_err(lost)
    }

    /// Sends, if there is room.
    ///
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
    /// Waits for a message, and takes it.
    ///
    /// # Errors
    /// If all senders are gone and no message is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.receive(Patience::Endless).map_err(|_| RecvError)
    }

    /// Takes a message, if there is one.
    ///
    /// # Errors
    /// If no message is there.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.receive(Patience::None)
    }

    /// Waits for a message, and takes it.
    ///
    /// # Errors
    /// If all senders are gone, or whenever no message is there: the time may always have passed.
    #[track_caller]
    pub fn recv_timeout(&self, duration: std::time::Duration) -> Result<T, RecvTimeoutError> {
        self.channel.receive(Patience::TimeOut).map_err(|error| match error {
            TryRecvError::Empty => {
                try_with(|context| context.advance_time(duration));
                RecvTimeoutError::Timeout
            }
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// The messages until all senders are gone; waits for each.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// The messages that are there.
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
