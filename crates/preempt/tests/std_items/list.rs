// Included twice, with `root` being std and preempt. Not a module of its own.

use root::alloc::{self, GlobalAlloc, Layout, LayoutError, System};
use root::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell};
use root::hint;
use root::sync::atomic::{self, Ordering::SeqCst, *};
use root::sync::{self, mpsc, *};
use root::thread::{self, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId};
use root::time::{Duration, Instant, TryFromFloatSecsError};

root::thread_local! {
    static PLAIN: std::cell::Cell<u8> = const { std::cell::Cell::new(0) };
    static BORROWED: RefCell<u8> = RefCell::new(0);
}

const MS: Duration = Duration::from_millis(1);

/// What all atomics of a type have in common.
macro_rules! atomic_calls {
    ($atomic:ty, $value:expr) => {
        |a: &mut $atomic| {
            a.load(SeqCst);
            a.store($value, SeqCst);
            a.swap($value, SeqCst);
            _ = a.compare_exchange($value, $value, SeqCst, SeqCst);
            _ = a.compare_exchange_weak($value, $value, SeqCst, SeqCst);
            _ = a.compare_and_swap($value, $value, SeqCst);
            _ = a.fetch_update(SeqCst, SeqCst, |_| Some($value));
            _ = a.try_update(SeqCst, SeqCst, |_| Some($value));
            _ = a.update(SeqCst, SeqCst, |_| $value);
            _ = a.get_mut();
            <$atomic>::new($value).into_inner()
        }
    };
}

macro_rules! integer_calls {
    ($atomic:ty) => {
        |a: &mut $atomic| {
            _ = atomic_calls!($atomic, 1);
            _ = [a.fetch_add(1, SeqCst), a.fetch_sub(1, SeqCst), a.fetch_and(1, SeqCst), a.fetch_nand(1, SeqCst)];
            _ = [a.fetch_or(1, SeqCst), a.fetch_xor(1, SeqCst), a.fetch_max(1, SeqCst), a.fetch_min(1, SeqCst)];
        }
    };
}

named! {
    "thread::spawn": || thread::spawn(|| 1).join().unwrap() + 1;
    "thread::scope": || thread::scope(|_: &Scope<'_, '_>| 1);
    "thread::current": || thread::current();
    "thread::park": || thread::park();
    "thread::park_timeout": || thread::park_timeout(MS);
    "thread::sleep": || thread::sleep(MS);
    "thread::yield_now": || thread::yield_now();
    "thread::panicking": || thread::panicking();
    "thread::available_parallelism": || thread::available_parallelism();
    "thread::Result": |r: thread::Result<u8>| r;
    "thread::AccessError": |e: thread::AccessError| e;
    "thread::Thread::id": |t: &Thread| t.id() == t.id();
    "thread::Thread::name": |t: &Thread| t.name().map(str::to_string);
    "thread::Thread::unpark": |t: &Thread| t.unpark();
    "thread::ThreadId": |t: ThreadId| t;
    "thread::Builder::new": || Builder::new();
    "thread::Builder::name": |b: Builder| b.name(String::new());
    "thread::Builder::stack_size": |b: Builder| b.stack_size(1);
    "thread::Builder::spawn": |b: Builder| b.spawn(|| 1).unwrap();
    "thread::Builder::spawn_scoped": |b: Builder| thread::scope(|s| b.spawn_scoped(s, || 1).unwrap().join().unwrap());
    "thread::Builder::spawn_unchecked": Builder::spawn_unchecked::<fn() -> u8, u8>;
    "thread::JoinHandle::join": |h: JoinHandle<u8>| h.join();
    "thread::JoinHandle::thread": |h: &JoinHandle<u8>| h.thread().id();
    "thread::JoinHandle::is_finished": |h: &JoinHandle<u8>| h.is_finished();
    "thread::Scope::spawn": || thread::scope(|s| s.spawn(|| 1).join().unwrap());
    "thread::ScopedJoinHandle::join": |h: ScopedJoinHandle<'_, u8>| h.join();
    "thread::ScopedJoinHandle::thread": |h: &ScopedJoinHandle<'_, u8>| h.thread().id();
    "thread::ScopedJoinHandle::is_finished": |h: &ScopedJoinHandle<'_, u8>| h.is_finished();
    "thread::LocalKey::with": || PLAIN.with(std::cell::Cell::get);
    "thread::LocalKey::try_with": || PLAIN.try_with(std::cell::Cell::get);
    "thread::LocalKey::set": || (PLAIN.set(1), BORROWED.set(1));
    "thread::LocalKey::get": || PLAIN.get();
    "thread::LocalKey::take": || (PLAIN.take(), BORROWED.take());
    "thread::LocalKey::replace": || (PLAIN.replace(1), BORROWED.replace(1));
    "thread::LocalKey::with_borrow": || BORROWED.with_borrow(|x| *x);
    "thread::LocalKey::with_borrow_mut": || BORROWED.with_borrow_mut(|x| *x);
    "thread::thread_local!": || ();

    "sync::Mutex::new": || Mutex::new(1);
    "sync::Mutex::lock": |m: &Mutex<u8>| drop::<MutexGuard<'_, u8>>(m.lock().unwrap());
    "sync::Mutex::try_lock": |m: &Mutex<u8>| *m.try_lock().unwrap();
    "sync::Mutex::is_poisoned": |m: &Mutex<u8>| m.is_poisoned();
    "sync::Mutex::clear_poison": |m: &Mutex<u8>| m.clear_poison();
    "sync::Mutex::into_inner": |m: Mutex<u8>| m.into_inner().unwrap();
    "sync::Mutex::get_mut": |m: &mut Mutex<u8>| *m.get_mut().unwrap();
    "sync::RwLock::new": || RwLock::new(1);
    "sync::RwLock::read": |m: &RwLock<u8>| drop::<RwLockReadGuard<'_, u8>>(m.read().unwrap());
    "sync::RwLock::try_read": |m: &RwLock<u8>| *m.try_read().unwrap();
    "sync::RwLock::write": |m: &RwLock<u8>| *m.write().unwrap();
    "sync::RwLock::try_write": |m: &RwLock<u8>| *m.try_write().unwrap();
    "sync::RwLock::is_poisoned": |m: &RwLock<u8>| m.is_poisoned();
    "sync::RwLock::clear_poison": |m: &RwLock<u8>| m.clear_poison();
    "sync::RwLock::into_inner": |m: RwLock<u8>| m.into_inner().unwrap();
    "sync::RwLock::get_mut": |m: &mut RwLock<u8>| *m.get_mut().unwrap();
    "sync::RwLockWriteGuard::downgrade": |g: RwLockWriteGuard<'_, u8>| *RwLockWriteGuard::downgrade(g);
    "sync::Condvar::new": || Condvar::new();
    "sync::Condvar::wait": |c: &Condvar, g: MutexGuard<'_, u8>| *c.wait(g).unwrap();
    "sync::Condvar::wait_while": |c: &Condvar, g: MutexGuard<'_, u8>| *c.wait_while(g, |x| *x == 0).unwrap();
    "sync::Condvar::wait_timeout": |c: &Condvar, g: MutexGuard<'_, u8>| c.wait_timeout(g, MS).unwrap().1;
    "sync::Condvar::wait_timeout_while": |c: &Condvar, g: MutexGuard<'_, u8>| c.wait_timeout_while(g, MS, |x| *x == 0).unwrap().1;
    "sync::Condvar::notify_one": |c: &Condvar| c.notify_one();
    "sync::Condvar::notify_all": |c: &Condvar| c.notify_all();
    "sync::WaitTimeoutResult::timed_out": |r: WaitTimeoutResult| r.timed_out();
    "sync::Barrier::new": || Barrier::new(1);
    "sync::Barrier::wait": |b: &Barrier| b.wait();
    "sync::BarrierWaitResult::is_leader": |r: BarrierWaitResult| r.is_leader();
    "sync::Once::new": || Once::new();
    "sync::Once::call_once": |o: &Once| o.call_once(|| ());
    "sync::Once::call_once_force": |o: &Once| o.call_once_force(|_| ());
    "sync::Once::is_completed": |o: &Once| o.is_completed();
    "sync::Once::wait": |o: &Once| o.wait();
    "sync::Once::wait_force": |o: &Once| o.wait_force();
    "sync::OnceState::is_poisoned": |s: &OnceState| s.is_poisoned();
    "sync::OnceLock::new": || OnceLock::<u8>::new();
    "sync::OnceLock::get": |o: &OnceLock<u8>| o.get().copied();
    "sync::OnceLock::get_mut": |o: &mut OnceLock<u8>| o.get_mut().copied();
    "sync::OnceLock::set": |o: &OnceLock<u8>| o.set(1);
    "sync::OnceLock::get_or_init": |o: &OnceLock<u8>| *o.get_or_init(|| 1);
    "sync::OnceLock::wait": |o: &OnceLock<u8>| *o.wait();
    "sync::OnceLock::take": |o: &mut OnceLock<u8>| o.take();
    "sync::OnceLock::into_inner": |o: OnceLock<u8>| o.into_inner();
    "sync::LazyLock::new": || LazyLock::<u8>::new(|| 1);
    "sync::LazyLock::force": |l: &LazyLock<u8>| *LazyLock::force(l);
    "sync::LazyLock::force_mut": |l: &mut LazyLock<u8>| *LazyLock::force_mut(l);
    "sync::LazyLock::get": |l: &LazyLock<u8>| LazyLock::get(l).copied();
    "sync::LazyLock::get_mut": |l: &mut LazyLock<u8>| LazyLock::get_mut(l).copied();
    "sync::Arc": |x: sync::Arc<u8>| x;
    "sync::Weak": |x: sync::Weak<u8>| x;
    "sync::PoisonError": |e: PoisonError<u8>| e;
    "sync::TryLockError": |e: TryLockError<u8>| e;
    "sync::LockResult": |r: LockResult<u8>| r;
    "sync::TryLockResult": |r: TryLockResult<u8>| r;

    "sync::mpsc::channel": || mpsc::channel::<u8>();
    "sync::mpsc::sync_channel": || mpsc::sync_channel::<u8>(1);
    "sync::mpsc::Sender::send": |s: &mpsc::Sender<u8>| s.clone().send(1);
    "sync::mpsc::SyncSender::send": |s: &mpsc::SyncSender<u8>| s.clone().send(1);
    "sync::mpsc::SyncSender::try_send": |s: &mpsc::SyncSender<u8>| s.try_send(1);
    "sync::mpsc::Receiver::recv": |r: &mpsc::Receiver<u8>| r.recv();
    "sync::mpsc::Receiver::try_recv": |r: &mpsc::Receiver<u8>| r.try_recv();
    "sync::mpsc::Receiver::recv_timeout": |r: &mpsc::Receiver<u8>| r.recv_timeout(MS);
    "sync::mpsc::Receiver::iter": |r: &mpsc::Receiver<u8>| { let mut i: mpsc::Iter<'_, u8> = r.iter(); i.next() };
    "sync::mpsc::Receiver::try_iter": |r: &mpsc::Receiver<u8>| { let mut i: mpsc::TryIter<'_, u8> = r.try_iter(); i.next() };
    "sync::mpsc::Receiver::into_iter": |r: mpsc::Receiver<u8>| { let mut i: mpsc::IntoIter<u8> = r.into_iter(); i.next() };
    "sync::mpsc::RecvError": |e: mpsc::RecvError| e;
    "sync::mpsc::RecvTimeoutError": |e: mpsc::RecvTimeoutError| e;
    "sync::mpsc::SendError": |e: mpsc::SendError<u8>| e;
    "sync::mpsc::TryRecvError": |e: mpsc::TryRecvError| e;
    "sync::mpsc::TrySendError": |e: mpsc::TrySendError<u8>| e;

    "sync::atomic::fence": || atomic::fence(SeqCst);
    "sync::atomic::compiler_fence": || atomic::compiler_fence(SeqCst);
    "sync::atomic::Ordering": |o: atomic::Ordering| o;
    "sync::atomic::AtomicBool": |a: &mut AtomicBool| { _ = atomic_calls!(AtomicBool, true); [a.fetch_and(true, SeqCst), a.fetch_nand(true, SeqCst), a.fetch_or(true, SeqCst), a.fetch_xor(true, SeqCst), a.fetch_not(SeqCst)] };
    "sync::atomic::AtomicI8": integer_calls!(AtomicI8);
    "sync::atomic::AtomicI16": integer_calls!(AtomicI16);
    "sync::atomic::AtomicI32": integer_calls!(AtomicI32);
    "sync::atomic::AtomicI64": integer_calls!(AtomicI64);
    "sync::atomic::AtomicIsize": integer_calls!(AtomicIsize);
    "sync::atomic::AtomicU8": integer_calls!(AtomicU8);
    "sync::atomic::AtomicU16": integer_calls!(AtomicU16);
    "sync::atomic::AtomicU32": integer_calls!(AtomicU32);
    "sync::atomic::AtomicU64": integer_calls!(AtomicU64);
    "sync::atomic::AtomicUsize": integer_calls!(AtomicUsize);
    "sync::atomic::AtomicPtr": |a: &mut AtomicPtr<u8>| { _ = atomic_calls!(AtomicPtr<u8>, std::ptr::null_mut()); [a.fetch_ptr_add(1, SeqCst), a.fetch_ptr_sub(1, SeqCst), a.fetch_byte_add(1, SeqCst), a.fetch_byte_sub(1, SeqCst), a.fetch_or(1, SeqCst), a.fetch_and(1, SeqCst), a.fetch_xor(1, SeqCst)] };

    "cell::Cell::new": || Cell::new(1);
    "cell::Cell::set": |c: &Cell<u8>| c.set(1);
    "cell::Cell::get": |c: &Cell<u8>| c.get();
    "cell::Cell::swap": |c: &Cell<u8>, d: &Cell<u8>| c.swap(d);
    "cell::Cell::replace": |c: &Cell<u8>| c.replace(1);
    "cell::Cell::take": |c: &Cell<u8>| c.take();
    "cell::Cell::update": |c: &Cell<u8>| c.update(|x| x);
    "cell::Cell::get_mut": |c: &mut Cell<u8>| *c.get_mut();
    "cell::Cell::into_inner": |c: Cell<u8>| c.into_inner();
    "cell::UnsafeCell::new": || UnsafeCell::new(1);
    "cell::UnsafeCell::get": |c: &UnsafeCell<u8>| c.get();
    "cell::UnsafeCell::get_mut": |c: &mut UnsafeCell<u8>| *c.get_mut();
    "cell::UnsafeCell::into_inner": |c: UnsafeCell<u8>| c.into_inner();
    "cell::RefCell": |c: &RefCell<u8>| { let x: Ref<'_, u8> = c.borrow(); *x };
    "cell::OnceCell": |c: &OnceCell<u8>| *c.get_or_init(|| 1);
    "cell::LazyCell": |c: &LazyCell<u8>| *LazyCell::force(c);
    "cell::Ref": |x: Ref<'_, u8>| *x;
    "cell::RefMut": |x: RefMut<'_, u8>| *x;
    "cell::BorrowError": |e: BorrowError| e;
    "cell::BorrowMutError": |e: BorrowMutError| e;

    "hint::spin_loop": || hint::spin_loop();
    "hint::black_box": || hint::black_box(1);
    "hint::cold_path": || hint::cold_path();
    "hint::select_unpredictable": || hint::select_unpredictable(true, 1, 2);
    "hint::assert_unchecked": hint::assert_unchecked as unsafe fn(bool);
    "hint::unreachable_unchecked": hint::unreachable_unchecked as unsafe fn() -> !;

    "time::Duration": |d: Duration| d;
    "time::TryFromFloatSecsError": |e: TryFromFloatSecsError| e;
    "time::Instant::now": || Instant::now();
    "time::Instant::duration_since": |a: Instant, b: Instant| a.duration_since(b);
    "time::Instant::checked_duration_since": |a: Instant, b: Instant| a.checked_duration_since(b);
    "time::Instant::saturating_duration_since": |a: Instant, b: Instant| a.saturating_duration_since(b);
    "time::Instant::elapsed": |a: Instant| a.elapsed();
    "time::Instant::checked_add": |a: Instant| a.checked_add(MS);
    "time::Instant::checked_sub": |a: Instant| a.checked_sub(MS);

    "alloc::alloc": alloc::alloc as unsafe fn(Layout) -> *mut u8;
    "alloc::alloc_zeroed": alloc::alloc_zeroed as unsafe fn(Layout) -> *mut u8;
    "alloc::dealloc": alloc::dealloc as unsafe fn(*mut u8, Layout);
    "alloc::realloc": alloc::realloc as unsafe fn(*mut u8, Layout, usize) -> *mut u8;
    "alloc::handle_alloc_error": |l: Layout| if false { alloc::handle_alloc_error(l) };
    "alloc::Layout": |l: Layout| l;
    "alloc::LayoutError": |e: LayoutError| e;
    "alloc::System": <System as GlobalAlloc>::alloc;
    "alloc::GlobalAlloc": || ();
}
