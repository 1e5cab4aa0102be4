//! The program as a test: real threads, atomics and cells of preempt's.

use super::*;

struct Share(UnsafeCell<u8>);

// SAFETY: whether its accesses are ordered is what the tests ask; nobody holds references to the value.
unsafe impl Sync for Share {}

struct Objects {
    cells: [Share; 2],
    atomics: [AtomicU8; 2],
    mutex: Mutex<()>,
    condvar: Condvar,
    rwlock: RwLock<()>,
    once: OnceLock<()>,
    sender: Sender<u8>,
    receiver: Receiver<u8>,
    /// What tells whether a token was there: it is set before each `unpark`.
    tokens: std::sync::atomic::AtomicU8,
}

impl Objects {
    fn access(&self, cell: usize, write: bool) {
        // SAFETY: see above.
        unsafe {
            match write {
                true => self.cells[cell].0.with_mut(|value| *value = 1),
                false => drop(self.cells[cell].0.with(|value| (*value).to_string())),
            }
        }
    }

    fn run(self: &Arc<Self>, program: &'static [Vec<Op>], thread: usize) {
        let mut children = Vec::new();
        for &op in &program[thread] {
            match op {
                Op::Access { cell, write } => self.access(cell, write),
                Op::Load(a, order) => _ = self.atomics[a].load(order),
                Op::Store(a, order) => self.atomics[a].store(1, order),
                Op::Add(a, order) => _ = self.atomics[a].fetch_add(1, order),
                Op::Exchange(a, success, failure) => {
                    _ = self.atomics[a].compare_exchange(1, 2, success, failure);
                }
                Op::Guarded { atomic, order, cell, write } => {
                    if self.atomics[atomic].load(order) != 0 {
                        self.access(cell, write);
                    }
                }
                Op::Fence(order) => fence(order),
                Op::Locked { cell } => {
                    let _guard = self.mutex.lock().unwrap();
                    self.access(cell, true);
                }
                Op::TryLocked { cell } => {
                    if let Ok(_guard) = self.mutex.try_lock() {
                        self.access(cell, true);
                    }
                }
                Op::Once { cell } => {
                    let mut first = false;
                    self.once.get_or_init(|| {
                        first = true;
                        self.access(cell, true);
                    });
                    if !first {
                        self.access(cell, false);
                    }
                }
                Op::Swap(a, order) => _ = self.atomics[a].swap(1, order),
                Op::Waiting { cell } => {
                    let guard = self.mutex.lock().unwrap();
                    self.access(cell, true);
                    let _guard = self.condvar.wait_timeout(guard, Duration::from_millis(1)).unwrap();
                    self.access(cell, true);
                }
                Op::Read { cell } => {
                    let _guard = self.rwlock.read().unwrap();
                    self.access(cell, false);
                }
                Op::Write { cell } => {
                    let _guard = self.rwlock.write().unwrap();
                    self.access(cell, true);
                }
                Op::Send => self.sender.send(1).unwrap(),
                Op::Receive { cell } => {
                    if self.receiver.try_recv().is_ok() {
                        self.access(cell, true);
                    }
                }
                Op::Park { cell } => {
                    thread::park_timeout(Duration::from_millis(1));
                    if thread == 1 && self.tokens.swap(0, Relaxed) == 2 {
                        self.access(cell, true);
                    }
                }
                Op::Unpark => {
                    let child: &thread::JoinHandle<()> = &children[0];
                    child.thread().unpark();
                    // No step: it is done together with the `unpark`, and nothing else can be in between.
                    self.tokens.store(2, Relaxed);
                }
                Op::Spawn(child) => {
                    let this = Arc::clone(self);
                    children.push(thread::spawn(move || this.run(program, child)));
                }
                Op::Join(_) => children.remove(0).join().unwrap(),
            }
        }
    }
}

pub fn run(program: &'static [Vec<Op>]) {
    let (sender, receiver) = channel();
    let objects = Arc::new(Objects {
        cells: [0, 1].map(|_| Share(UnsafeCell::new(0))),
        atomics: [0, 1].map(|_| AtomicU8::new(0)),
        mutex: Mutex::new(()),
        condvar: Condvar::new(),
        rwlock: RwLock::new(()),
        once: OnceLock::new(),
        sender,
        receiver,
        tokens: std::sync::atomic::AtomicU8::new(0),
    });
    objects.run(program, 0);
}
