//! The programs, once for each library: `programs!(name, root)` makes a module that uses `root::sync` and
//! `root::thread`. They are the usual small ones; none of them fails.

/// Of each thread in `private`.
pub static STEPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(80);

/// A thread that does each of these, and one that waits for all.
macro_rules! programs {
    ($library:ident) => {
        pub mod $library {
            use $library::sync::atomic::{AtomicUsize, Ordering::SeqCst};
            use $library::sync::{Arc, Mutex, RwLock};
            use $library::thread;

            type Body = Box<dyn FnOnce() + Send>;

            fn run(bodies: Vec<Body>) {
                let handles: Vec<_> = bodies.into_iter().map(|body| thread::spawn(body)).collect();
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }

            /// So many threads with the same body, which is given its number.
            fn run_same(threads: usize, body: impl Fn(usize) + Send + Sync + 'static) {
                let body = std::sync::Arc::new(body);
                let each = |i| {
                    let body = std::sync::Arc::clone(&body);
                    Box::new(move || body(i)) as Body
                };
                run((0..threads).map(each).collect());
            }

            /// Independent work.
            #[allow(dead_code, reason = "shuttle runs it in every order")]
            pub fn private() {
                let steps = crate::programs::STEPS.load(std::sync::atomic::Ordering::Relaxed);
                run_same(3, move |_| {
                    let own = AtomicUsize::new(0);
                    (0..steps).for_each(|_| _ = own.fetch_add(1, SeqCst));
                });
            }

            /// An atomic load and then a store.
            pub fn counter3() {
                let counter = Arc::new(AtomicUsize::new(0));
                run_same(3, move |_| counter.store(counter.load(SeqCst) + 1, SeqCst));
            }

            /// Two critical sections each.
            pub fn counter_mx3() {
                let counter = Arc::new(Mutex::new(0));
                run_same(3, move |_| (0..2).for_each(|_| *counter.lock().unwrap() += 1));
            }

            /// Cilk's work-stealing queue: the owner pushes and pops at the tail, a thief takes from the head.
            struct Stealing {
                head: AtomicUsize,
                tail: AtomicUsize,
                slots: Vec<AtomicUsize>,
                lock: Mutex<()>,
            }

            impl Stealing {
                fn push(&self, item: usize) {
                    let tail = self.tail.load(SeqCst);
                    self.slots[tail].store(item, SeqCst);
                    self.tail.store(tail + 1, SeqCst);
                }

                fn pop(&self) -> Option<usize> {
                    let tail = self.tail.load(SeqCst).checked_sub(1)?;
                    self.tail.store(tail, SeqCst);
                    if self.head.load(SeqCst) <= tail {
                        return Some(self.slots[tail].load(SeqCst));
                    }
                    self.tail.store(tail + 1, SeqCst);
                    let _lock = self.lock.lock().unwrap();
                    if self.head.load(SeqCst) > tail {
                        return None;
                    }
                    self.tail.store(tail, SeqCst);
                    Some(self.slots[tail].load(SeqCst))
                }

                fn steal(&self) -> Option<usize> {
                    let _lock = self.lock.lock().unwrap();
                    let head = self.head.load(SeqCst);
                    self.head.store(head + 1, SeqCst);
                    if head < self.tail.load(SeqCst) {
                        return Some(self.slots[head].load(SeqCst));
                    }
                    self.head.store(head, SeqCst);
                    None
                }
            }

            fn work_stealing(items: usize) {
                let slots = (0..items).map(|_| AtomicUsize::new(0)).collect();
                let (head, tail, lock) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
                let queue = Arc::new(Stealing { head, tail, slots, lock });
                let other = Arc::clone(&queue);
                let thief = thread::spawn(move || other.steal());
                (0..items).for_each(|item| queue.push(item));
                // That every item is taken once is not asserted: with the stale values that loom gives to SeqCst loads it
                // is not.
                (0..items).for_each(|_| _ = queue.pop());
                thief.join().unwrap();
            }

            pub fn wsq1() {
                work_stealing(1);
            }

            pub fn wsq2() {
                work_stealing(2);
            }

            pub fn philosophers3() {
                let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..3).map(|_| Mutex::new(())).collect());
                run_same(3, move |i| {
                    let (a, b) = (i.min((i + 1) % 3), i.max((i + 1) % 3));
                    let _first = forks[a].lock().unwrap();
                    let _second = forks[b].lock().unwrap();
                });
            }

            /// A stack as a list of indices; 0 is its end.
            struct Treiber {
                head: AtomicUsize,
                next: Vec<AtomicUsize>,
            }

            impl Treiber {
                fn push(&self, node: usize) {
                    loop {
                        let head = self.head.load(SeqCst);
                        self.next[node].store(head, SeqCst);
                        if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                            return;
                        }
                    }
                }

                fn pop(&self) -> Option<usize> {
                    loop {
                        let head = self.head.load(SeqCst);
                        if head == 0 {
                            return None;
                        }
                        let next = self.next[head].load(SeqCst);
                        if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                            return Some(head);
                        }
                    }
                }
            }

            pub fn treiber() {
                let next = (0..3).map(|_| AtomicUsize::new(0)).collect();
                let stack = Arc::new(Treiber { head: AtomicUsize::new(0), next });
                run_same(3, move |i| match i {
                    0 => _ = stack.pop(),
                    node => stack.push(node),
                });
            }

            fn readers(writers: usize) {
                let lock = Arc::new(RwLock::new(0));
                run_same(3, move |i| match i < writers {
                    true => *lock.write().unwrap() += 1,
                    false => drop(lock.read().unwrap()),
                });
            }

            pub fn readers3() {
                readers(0);
            }

            pub fn readers2_writer1() {
                readers(1);
            }

            /// Flanagan and Godefroid's indexer, with so few threads that none meets another.
            pub fn indexer() {
                let table: Arc<Vec<AtomicUsize>> = Arc::new((0..16).map(|_| AtomicUsize::new(0)).collect());
                run_same(4, move |t| {
                    for message in 0..2 {
                        let mut slot = t * 4 + message;
                        while table[slot % 16].compare_exchange(0, message + 1, SeqCst, SeqCst).is_err() {
                            slot += 1;
                        }
                    }
                });
            }

            /// Flanagan and Godefroid's file system: 4 threads, 2 inodes, 4 blocks.
            pub fn file_system() {
                let inodes: Arc<Vec<Mutex<usize>>> = Arc::new((0..2).map(|_| Mutex::new(0)).collect());
                let busy: Arc<Vec<Mutex<bool>>> = Arc::new((0..4).map(|_| Mutex::new(false)).collect());
                run_same(4, move |t| {
                    let mut inode = inodes[t % 2].lock().unwrap();
                    let mut block = t % 2 * 2;
                    while *inode == 0 {
                        let mut busy = busy[block].lock().unwrap();
                        if !*busy {
                            *busy = true;
                            *inode = block + 1;
                        }
                        block = (block + 1) % 4;
                    }
                });
            }

            pub const ALL: [fn(); 10] = [
                counter3,
                counter_mx3,
                wsq1,
                wsq2,
                philosophers3,
                treiber,
                readers3,
                readers2_writer1,
                indexer,
                file_system,
            ];
        }
    };
}

programs!(preempt);
programs!(loom);
programs!(shuttle);

pub const NAMES: [&str; 10] = [
    "counter3",
    "counter_mx3",
    "wsq1",
    "wsq2",
    "philosophers 3, ordered",
    "Treiber 2 push 1 pop",
    "3 readers of an RwLock",
    "2 readers, 1 writer",
    "indexer, 4 threads, no conflict",
    "file system, 4 threads, 4 blocks",
];
