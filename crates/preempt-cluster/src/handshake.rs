//! Before a connection is used: do both ends know the secret, and are they of the same version, with the same model?
//!
//! Each end says who it is, with a number that was never used before; then each proves that it knows the secret by a code
//! (HMAC with SHA-256) over what both have said, which nobody else can make and which fits no other conversation. Only then is
//! looked at what was said. What is sent afterwards is neither encrypted nor authenticated: that is the network's matter.

use crate::Refused;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

/// What all processes know, and nobody else.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// A shorter one can be guessed.
const SHORTEST: usize = 16;

impl Secret {
    /// As it was read; what surrounds it does not count.
    pub fn of_text(text: &[u8]) -> Result<Secret, Refused> {
        let secret = text.trim_ascii().to_vec();
        if secret.len() < SHORTEST {
            return Err(Refused(format!("the secret must have at least {SHORTEST} characters")));
        }
        Ok(Secret(secret))
    }

    /// One that was never used before, as text.
    pub fn random() -> io::Result<String> {
        Ok(hexadecimal(&random()?))
    }
}

/// What the processes must have in common, and which of them this is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Of the program.
    pub version: String,
    /// Of the model and of what is asked about it.
    pub model: [u8; 32],
    /// Of this process.
    pub number: u32,
    /// Of all processes.
    pub count: u32,
}

/// A number that is different for other texts.
pub fn hash_of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

const MAGIC: &[u8; 16] = b"preempt cluster\n";
/// Of this handshake and everything after it.
const PROTOCOL: u32 = 1;
const VERSION: usize = 32;
const HELLO: usize = 16 + 4 + VERSION + 32 + 4 + 4 + 32;

/// Which end it is, so that an answer is never taken for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Asked for the connection.
    Caller = 1,
    /// Was asked.
    Called = 2,
}

/// What one end says to the other when it has heard everything.
const VERDICTS: [&str; 5] = [
    "",
    "it does not know the secret",
    "it is of another version",
    "it has another model, or other options",
    "it has another list of hosts",
];

/// Says who this is and hears who that is: the number of the other end. The connection is of no use afterwards if not.
pub fn shake_hands<S: Read + Write>(
    stream: &mut S,
    end: End,
    own: &Identity,
    secret: &Secret,
) -> Result<u32, Refused> {
    let lost = |error: io::Error| Refused(format!("the connection was lost ({error})"));
    let hello = hello(own).map_err(lost)?;
    stream.write_all(&hello).map_err(lost)?;
    stream.flush().map_err(lost)?;
    let mut theirs = [0; HELLO];
    stream.read_exact(&mut theirs).map_err(lost)?;
    let (caller, called) = match end {
        End::Caller => (&hello, &theirs),
        End::Called => (&theirs, &hello),
    };
    if theirs[..16] != MAGIC[..] {
        return Err(Refused("it is no process of such a search".into()));
    }
    let other_end = if end == End::Caller { End::Called } else { End::Caller };
    stream.write_all(&code(secret, end, caller, called).finalize().into_bytes()).map_err(lost)?;
    stream.flush().map_err(lost)?;
    let mut proof = [0; 32];
    stream.read_exact(&mut proof).map_err(lost)?;
    let knows_secret = code(secret, other_end, caller, called).verify_slice(&proof).is_ok();
    let heard = Heard::new(&theirs);
    let verdict = if !knows_secret {
        1
    } else if heard.protocol != PROTOCOL || heard.version != padded(&own.version) {
        2
    } else if heard.model != own.model {
        3
    } else if heard.count != own.count || heard.number >= own.count || heard.number == own.number {
        4
    } else {
        0
    };
    stream.write_all(&[verdict]).map_err(lost)?;
    stream.flush().map_err(lost)?;
    let mut their_verdict = [0];
    stream.read_exact(&mut their_verdict).map_err(lost)?;
    let said = |verdict: u8| VERDICTS.get(usize::from(verdict)).copied().unwrap_or("it refuses to go on");
    match (verdict, their_verdict[0]) {
        (0, 0) => Ok(heard.number),
        (0, theirs) => Err(Refused(format!("it refuses this process, of which it says: {}", said(theirs)))),
        (verdict, _) => Err(Refused(said(verdict).into())),
    }
}

struct Heard<'a> {
    protocol: u32,
    version: &'a [u8],
    model: &'a [u8],
    number: u32,
    count: u32,
}

impl Heard<'_> {
    fn new(hello: &[u8; HELLO]) -> Heard<'_> {
        let number = |at: usize| u32::from_le_bytes([hello[at], hello[at + 1], hello[at + 2], hello[at + 3]]);
        let model = 20 + VERSION;
        Heard {
            protocol: number(16),
            version: &hello[20..model],
            model: &hello[model..model + 32],
            number: number(model + 32),
            count: number(model + 36),
        }
    }
}

fn hello(own: &Identity) -> io::Result<[u8; HELLO]> {
    let mut hello = [0; HELLO];
    let parts: [&[u8]; 7] = [
        MAGIC,
        &PROTOCOL.to_le_bytes(),
        &padded(&own.version),
        &own.model,
        &own.number.to_le_bytes(),
        &own.count.to_le_bytes(),
        &random()?,
    ];
    let mut at = 0;
    for part in parts {
        hello[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    Ok(hello)
}

fn padded(version: &str) -> [u8; VERSION] {
    let mut bytes = [0; VERSION];
    let length = version.len().min(VERSION);
    bytes[..length].copy_from_slice(&version.as_bytes()[..length]);
    bytes
}

fn code(secret: &Secret, by: End, caller: &[u8], called: &[u8]) -> Hmac<Sha256> {
    // A key of any length will do.
    let mut code =
        Hmac::<Sha256>::new_from_slice(&secret.0).unwrap_or_else(|_| Hmac::new(&Default::default()));
    code.update(&[by as u8]);
    code.update(caller);
    code.update(called);
    code
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn who(number: u32) -> Identity {
        Identity { version: "1.2.3".into(), model: [7; 32], number, count: 2 }
    }

    fn meet(one: (Identity, &str), other: (Identity, &str)) -> [Result<u32, Refused>; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let secret = |text: &str| Secret::of_text(text.as_bytes()).expect("long enough");
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| {
                let mut stream = TcpStream::connect(address).expect("somebody listens");
                shake_hands(&mut stream, End::Caller, &one.0, &secret(one.1))
            });
            let (mut stream, _) = listener.accept().expect("somebody calls");
            let called = shake_hands(&mut stream, End::Called, &other.0, &secret(other.1));
            [caller.join().expect("no panic"), called]
        })
    }

    const KNOWN: &str = "correct horse battery staple";

    #[test]
    fn those_who_belong_together_find_each_other() {
        assert_eq!(meet((who(1), KNOWN), (who(0), KNOWN)), [Ok(0), Ok(1)]);
    }

    #[test]
    fn everybody_else_is_refused_and_told_why() {
        let another = |change: fn(&mut Identity)| {
            let mut other = who(0);
            change(&mut other);
            other
        };
        let cases = [
            (who(0), "another secret, as long", "does not know the secret"),
            (another(|it| it.version = "1.2.4".into()), KNOWN, "of another version"),
            (another(|it| it.model[31] = 8), KNOWN, "another model"),
            (another(|it| it.count = 3), KNOWN, "another list of hosts"),
            (another(|it| it.number = 1), KNOWN, "another list of hosts"),
        ];
        for (other, secret, why) in cases {
            for result in meet((who(1), KNOWN), (other.clone(), secret)) {
                assert!(result.as_ref().is_err_and(|it| it.0.contains(why)), "{why}: {result:?}");
            }
        }
        assert!(Secret::of_text(b"  short  \n").is_err());
    }

    /// Whatever is said, the answer is a refusal.
    #[test]
    fn strangers_are_no_danger() {
        struct Stranger(io::Cursor<Vec<u8>>);
        impl Read for Stranger {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                self.0.read(bytes)
            }
        }
        impl Write for Stranger {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let secret = Secret::of_text(KNOWN.as_bytes()).expect("long enough");
        let own = hello(&who(1)).expect("random numbers").to_vec();
        for said in [
            vec![],
            vec![0; 1000],
            b"GET / HTTP/1.1\r\n".repeat(20),
            [own.clone(), vec![0; 33]].concat(),
            own,
        ] {
            let mut stream = Stranger(io::Cursor::new(said));
            assert!(shake_hands(&mut stream, End::Called, &who(0), &secret).is_err());
        }
    }
}
