//! What would end the process ends the run instead: a modelled thread that overflows its stack, and the abort after a
//! panic that must not unwind.
//!
//! Below every stack lies a page that must not be touched; touching it raises a signal, and so does aborting. The handler
//! runs on the alternate stack that std gives to each of its threads. It discards what is on the coroutine's stack and lets
//! the coroutine return from there, so that the search goes on as after any other step: the run has failed. Leaving the
//! handler of an abort otherwise than by returning is allowed (POSIX). Linux on x86-64; elsewhere both end the process.

use corosensei::Coroutine;
use corosensei::stack::DefaultStack;

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// Why a coroutine did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trap {
    Overflow,
    Abort,
}

/// What std gives to its threads.
pub(crate) fn default_size() -> usize {
    let size = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
    size.unwrap_or(2 << 20)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[allow(unsafe_code)]
mod signal {
    use super::{Fiber, Trap};
    use corosensei::trap::CoroutineTrapHandler;
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::sync::OnceLock;

    thread_local! {
        static RUNNING: Cell<Option<CoroutineTrapHandler<()>>> = const { Cell::new(None) };
        static TRAPPED: Cell<Option<Trap>> = const { Cell::new(None) };
        /// The coroutine that is running is about to abort.
        static ABORTS: Cell<bool> = const { Cell::new(false) };
    }

    const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGABRT];

    /// What was done about the signals before.
    static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();

    pub fn install() {
        let install = |signal: c_int| {
            // SAFETY: both are plain data, and all of them is set or may be zero; the handler has the signature that
            // SA_SIGINFO demands.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut before: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(signal, &raw const action, &raw mut before);
                before
            }
        };
        BEFORE.get_or_init(|| SIGNALS.map(install));
    }

    /// Resumes the coroutine; also says why it did not come to its end.
    pub fn guarded<R>(fiber: &mut Fiber, resume: impl FnOnce(&mut Fiber) -> R) -> (R, Option<Trap>) {
        // It stays there until another is resumed: whose stack it is decides whether a signal is for it.
        RUNNING.set(Some(fiber.trap_handler()));
        let result = resume(fiber);
        (result, TRAPPED.take())
    }

    /// The running coroutine will abort next. False if nothing can be done about it.
    pub fn expect_abort() -> bool {
        ABORTS.set(true);
        true
    }

    extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the system calls this with pointers to both, the second to a `ucontext_t`, which is ours to change.
        let (address, registers) = unsafe {
            let context = &mut *context.cast::<libc::ucontext_t>();
            ((*info).si_addr() as usize, &mut context.uc_mcontext.gregs)
        };
        let stack_pointer = registers[libc::REG_RSP as usize] as usize;
        let fiber = RUNNING.get().filter(|fiber| fiber.stack_ptr_in_bounds(stack_pointer));
        // Everything in these bounds may be touched but the guard page.
        let overflow =
            signal == libc::SIGSEGV && fiber.is_some_and(|fiber| fiber.stack_ptr_in_bounds(address));
        let abort = signal == libc::SIGABRT && ABORTS.take();
        match fiber {
            Some(fiber) if overflow || abort => {
                TRAPPED.set(Some(if overflow { Trap::Overflow } else { Trap::Abort }));
                // SAFETY: the coroutine is the one that was interrupted, by the bounds of its stack. What it had borrowed
                // of ours is given back by `context::unlock`; code of the user is not resumed.
                let new = unsafe { fiber.setup_trap_handler(|| ()) };
                registers[libc::REG_RIP as usize] = new.rip as i64;
                registers[libc::REG_RSP as usize] = new.rsp as i64;
                registers[libc::REG_RBP as usize] = new.rbp as i64;
                registers[libc::REG_RDI as usize] = new.rdi as i64;
                registers[libc::REG_RSI as usize] = new.rsi as i64;
            }
            _ => pass_on(signal, info, context),
        }
    }

    /// Not ours: what would have happened without us.
    fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let known = SIGNALS.iter().position(|known| *known == signal);
        let before = known.and_then(|known| BEFORE.get().map(|before| &before[known]));
        let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
        let full = before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0);
        // SAFETY: the handler is what the process had installed, with the signature that its flags name; otherwise the
        // default is restored, and the instruction raises the signal again.
        unsafe {
            if full {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            } else {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod signal {
    use super::{Fiber, Trap};

    pub fn install() {}

    pub fn guarded<R>(fiber: &mut Fiber, resume: impl FnOnce(&mut Fiber) -> R) -> (R, Option<Trap>) {
        (resume(fiber), None)
    }

    pub fn expect_abort() -> bool {
        false
    }
}

pub(crate) use signal::{expect_abort, guarded, install};
