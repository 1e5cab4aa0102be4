//! Rendezvous: a message is offered to every other process, and whoever takes it moves in the same step.
#![allow(unsafe_code, reason = "states are handed to machine code as pointers")]

use super::actor::Actor;
use super::context::{Event, FAULT, NO, UNDONE, YES};
use super::moves::{Made, Moves, StepList, Timeout};
use super::program::NativeEdge;

/// A rendezvous half done; the message itself waits in the context.
#[derive(Debug, Clone, Copy)]
pub struct Offer {
    channel: i32,
    length: i32,
}

impl Moves<'_> {
    /// Offers the message in the context to every other process.
    pub(super) fn rendezvous(
        &mut self,
        actor: Actor<'_>,
        (number, edge): (usize, &NativeEdge),
        found: &mut StepList,
    ) {
        let sender = actor.process();
        let offer = Offer { channel: self.context.offer_channel, length: self.context.message_length };
        for receiver in (0..actor.process_count()).filter(|receiver| *receiver != sender) {
            let receiving = actor.with_process(receiver);
            let location = self.location(receiving);
            if !location.receives || !self.may_run(receiving, Some(&offer)) {
                continue;
            }
            let mut escape = None;
            for (partner, taken) in location.edges.iter().enumerate() {
                if escape.is_some() && taken.facts.escape != escape {
                    break;
                }
                let acceptance = self.accepts(receiving, taken, &offer);
                if acceptance == NO {
                    continue;
                }
                escape = taken.facts.escape;
                taken.note(true);
                let with = Some((receiver as u32, partner as u32));
                if acceptance == FAULT {
                    self.faulty(sender, number, with, found);
                    continue;
                }
                let (start, next) = self.copy(receiving, taken.facts.grows, found);
                self.enter(next, Timeout::Never, true);
                self.context.failed = 0;
                self.context.events.clear();
                if !self.program.exclusive_uses.is_empty() {
                    let event = |process: usize, send| Event {
                        process: process as i32,
                        send,
                        channel: offer.channel,
                    };
                    self.context.events.extend([event(sender, true), event(receiver, false)]);
                }
                self.stand_at(next.with_process(sender), edge.facts.target);
                let received = self.receive(next, taken, acceptance, &offer);
                self.stand_at(next, taken.facts.target);
                if received == FAULT || received == UNDONE {
                    found.bytes.truncate(start - self.hidden());
                    if received == FAULT {
                        self.faulty(sender, number, with, found);
                    }
                } else {
                    let (runs, atomic) = (receiver, taken.facts.atomic);
                    self.finish(actor, Made { start, runs, atomic, edge: number, partner: with }, found);
                }
            }
        }
    }

    /// Takes the message. That may send others through the context, in which it waits for the next receiver.
    fn receive(&mut self, next: Actor<'_>, edge: &NativeEdge, acceptance: i32, offer: &Offer) -> i32 {
        let length = offer.length as usize;
        let context = &mut *self.context;
        context.offered.clear();
        context.offered.extend_from_slice(&context.message[..length]);
        let take = edge.takes[(acceptance - YES) as usize];
        // SAFETY: the code belongs to the program, and the context points at the copy, which has room for the processes
        // that the edge may start.
        let received = unsafe { take(&mut *self.context, next.state(), next.base()) };
        let context = &mut *self.context;
        context.message[..length].copy_from_slice(&context.offered);
        received
    }

    /// Which of its acceptances takes the offer, if one does.
    pub(super) fn accepts(&mut self, actor: Actor<'_>, edge: &NativeEdge, offer: &Offer) -> i32 {
        let Some(accept) = edge.accept else { return NO };
        self.enter(actor, Timeout::Never, false);
        self.context.offer_channel = offer.channel;
        self.context.message_length = offer.length;
        // SAFETY: the code belongs to the program, and the context points at the actor's state.
        unsafe { accept(&mut *self.context, actor.state(), actor.base()) }
    }
}
