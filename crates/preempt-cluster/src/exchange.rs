//! The mail between the parts of a search, on timely dataflow.
//!
//! One operator with its output fed back to its input: mail goes round once and arrives one step later, at the worker whose
//! number it bears. Timestamps are costs, compared as pairs. The part is called for a timestamp when timely's frontier has
//! passed it, that is, when nobody has anything at it or before it any more; and the dataflow ends when nobody has anything at
//! all. So there is no other protocol for order, barriers or termination than timely's progress tracking.
//!
//! A worker of timely wants everything for itself and for ever; a search borrows its model. So the worker has a thread, and the
//! search stays where it is: the operator asks it through a channel and waits for its answers, which go out as they come.

use preempt_explicit::{Exchange, Mail, Moment, Part, Post};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange as ByNumber;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::worker::Worker;

/// `dataflow` wants a refinement of `()`; pairs are compared in order, `Product` is not.
type Time = ((), (u32, u64));

/// To whom, from whom, what.
type Letter = (u64, u64, Vec<u8>);

/// What the search says to the worker.
enum Said {
    /// There is a part to be called.
    Begin,
    Send(usize, Vec<u8>),
    Wake(Moment),
    /// The part has nothing more to say at this moment.
    Done,
}

/// What the worker says to the search.
enum Heard {
    At(Moment, Vec<Mail>),
    Finished,
}

/// All processes of a search, as one of them sees them.
#[allow(missing_debug_implementations, reason = "timely's guards have none")]
pub struct Cluster {
    number: usize,
    count: usize,
    say: Option<Sender<Said>>,
    hear: Receiver<Heard>,
    /// This part has given up: the others find out when the process ends.
    failed: bool,
    guards: Option<WorkerGuards<()>>,
}

impl Cluster {
    /// Over these connections, by the numbers of the processes, `None` for this one.
    pub fn new(streams: Vec<Option<TcpStream>>, number: usize) -> Result<Cluster, String> {
        let count = streams.len();
        let hooks = Hooks::default();
        let inside = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
        let (builders, threads) = initialize_networking_from_sockets(inside, streams, number, 1, hooks)
            .map_err(|error| format!("the connections cannot be used: {error}"))?;
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        let (say, said) = channel();
        let (tell, hear) = channel();
        // There is one worker, which takes them.
        let ends = Mutex::new(Some((said, tell)));
        let work = move |worker: &mut Worker| {
            let ends = ends.lock().ok().and_then(|mut ends| ends.take());
            let Some((said, tell)) = ends else { return };
            let (said, tell) = (Rc::new(said), Rc::new(tell));
            while let Ok(Said::Begin) = said.recv() {
                carry(worker, number, &said, &tell);
                if tell.send(Heard::Finished).is_err() {
                    return;
                }
            }
        };
        let guards =
            timely::execute::execute_from(builders, Box::new(threads), WorkerConfig::default(), work)?;
        Ok(Cluster { number, count, say: Some(say), hear, failed: false, guards: Some(guards) })
    }
}

impl Cluster {
    /// Has this part given up on the others?
    pub fn has_failed(&self) -> bool {
        self.failed
    }
}

/// The worker ends, and with it the connections; whoever is still at work is waited for.
impl Drop for Cluster {
    fn drop(&mut self) {
        self.say = None;
        match self.failed {
            true => std::mem::forget(self.guards.take()),
            false => drop(self.guards.take()),
        }
    }
}

/// What waits for a moment, and the right to send at it.
struct Waiting {
    right: Capability<Time>,
    mail: Vec<Mail>,
}

/// Carries mail until there is none.
fn carry(worker: &mut Worker, number: usize, said: &Rc<Receiver<Said>>, tell: &Rc<Sender<Heard>>) {
    let (said, tell) = (Rc::clone(said), Rc::clone(tell));
    worker.dataflow::<Time, _, _>(move |scope| {
        let (back, letters) = scope.feedback::<Vec<Letter>>(((), (0, 1)));
        let to = ByNumber::new(|letter: &Letter| letter.0);
        let sent = letters.unary_frontier::<CapacityContainerBuilder<Vec<Letter>>, _, _, _>(
            to,
            "part",
            move |right, _| {
                let mut waiting = BTreeMap::from([((0, 0), Waiting { right, mail: Vec::new() })]);
                move |(input, frontier), output| {
                    input.for_each(|time, letters| {
                        let at = time.time().1;
                        let here = waiting.entry(at).or_insert_with(|| Waiting {
                            right: time.retain(output.output_index()),
                            mail: Vec::new(),
                        });
                        let mail =
                            letters.drain(..).map(|(_, from, bytes)| Mail { from: from as usize, bytes });
                        here.mail.extend(mail);
                    });
                    while let Some((at, _)) = waiting.first_key_value()
                        && !frontier.less_equal(&((), *at))
                    {
                        let Some((at, Waiting { right, mail })) = waiting.pop_first() else { break };
                        // Without a search nothing more is to be done.
                        if tell.send(Heard::At(at, mail)).is_err() {
                            waiting.clear();
                            break;
                        }
                        let mut letters = output.session(&right);
                        loop {
                            match said.recv() {
                                Ok(Said::Send(to, bytes)) => letters.give((to as u64, number as u64, bytes)),
                                Ok(Said::Wake(later)) if later > at => {
                                    waiting.entry(later).or_insert_with(|| Waiting {
                                        right: right.delayed(&((), later)),
                                        mail: Vec::new(),
                                    });
                                }
                                Ok(Said::Wake(_)) => {}
                                Ok(Said::Done | Said::Begin) | Err(_) => break,
                            }
                        }
                    }
                }
            },
        );
        sent.connect_loop(back);
    });
    while worker.has_dataflows() {
        worker.step_or_park(None);
    }
}

impl Exchange for Cluster {
    fn place(&self) -> (usize, usize) {
        (self.number, self.count)
    }

    fn run(&mut self, part: &mut dyn Part) -> Result<(), String> {
        let ended = || "the connection to the other processes was lost".to_string();
        let say = self.say.as_ref().ok_or_else(ended)?;
        say.send(Said::Begin).map_err(|_| ended())?;
        loop {
            match self.hear.recv().map_err(|_| ended())? {
                Heard::At(moment, mail) => {
                    if let Err(why) = part.at(moment, mail, &mut Outgoing(say)) {
                        self.failed = true;
                        return Err(why);
                    }
                    say.send(Said::Done).map_err(|_| ended())?;
                }
                Heard::Finished => return Ok(()),
            }
        }
    }
}

struct Outgoing<'a>(&'a Sender<Said>);

/// If the worker is gone, the next thing that is heard of it is that it is gone.
impl Post for Outgoing<'_> {
    fn send(&mut self, to: usize, bytes: Vec<u8>) {
        let _ = self.0.send(Said::Send(to, bytes));
    }

    fn wake(&mut self, at: Moment) {
        let _ = self.0.send(Said::Wake(at));
    }
}
