//! A connection between each two processes. Whoever has the higher number calls.

use crate::handshake::{End, Identity, Secret, shake_hands};
use crate::{Hosts, Refused};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// So long the others may take to come.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Of somebody who is there, an answer is expected soon.
const ANSWER: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Connections to all other processes, by their numbers, `None` for this one.
pub fn connect(
    hosts: &Hosts,
    own: &Identity,
    secret: &Secret,
    patience: Duration,
    is_over: &dyn Fn() -> bool,
) -> Result<Vec<Option<TcpStream>>, Refused> {
    let number = own.number as usize;
    let until = Instant::now() + patience;
    let mut streams: Vec<Option<TcpStream>> = (0..hosts.count()).map(|_| None).collect();
    let listener = listen(hosts.addresses[number], &hosts.names[number])?;
    for (other, place) in streams.iter_mut().enumerate().take(number) {
        let name = &hosts.names[other];
        let mut stream = call(hosts.addresses[other], other, name, until, is_over)?;
        let refused = |why: Refused| Refused(format!("process {other} ({name}): {why}"));
        let answered = shake_hands(&mut stream, End::Caller, own, secret).map_err(refused)?;
        if answered as usize != other {
            return Err(refused(Refused(format!("process {answered} answers there"))));
        }
        *place = Some(ready(stream)?);
    }
    while let Some(missing) = (number + 1..hosts.count()).find(|other| streams[*other].is_none()) {
        let Some((mut stream, from)) = accept(&listener, until, is_over)? else {
            let name = &hosts.names[missing];
            return Err(Refused(format!("process {missing} ({name}) did not come within {patience:?}")));
        };
        match shake_hands(&mut stream, End::Called, own, secret) {
            Ok(other) if other > own.number && streams[other as usize].is_none() => {
                streams[other as usize] = Some(ready(stream)?);
            }
            Ok(other) => return Err(Refused(format!("process {other} ({from}) has come twice"))),
            // Somebody else may have called. Who knows the secret belongs here, and does not fit.
            Err(Refused(why))
                if why.contains("secret") || why.contains("lost") || why.contains("no process") =>
            {
                eprintln!("warning: refused a connection from {from}: {why}");
            }
            Err(Refused(why)) => return Err(Refused(format!("a process at {from}: {why}"))),
        }
    }
    Ok(streams)
}

/// At the address that was given, and no other.
fn listen(address: SocketAddr, name: &str) -> Result<TcpListener, Refused> {
    let cannot = |error: std::io::Error| Refused(format!("cannot listen at {name}: {error}"));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    Ok(listener)
}

fn call(
    address: SocketAddr,
    number: usize,
    name: &str,
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<TcpStream, Refused> {
    loop {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(stream) => return prepared(stream),
            Err(error) if Instant::now() >= until || is_over() => {
                return Err(Refused(format!("process {number} ({name}) cannot be reached: {error}")));
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// `None` if nobody came in time.
fn accept(
    listener: &TcpListener,
    until: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<(TcpStream, SocketAddr)>, Refused> {
    loop {
        match listener.accept() {
            Ok((stream, from)) => return Ok(Some((prepared(stream)?, from))),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= until || is_over() {
                    return Ok(None);
                }
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(Refused(format!("no connection can be accepted: {error}"))),
        }
    }
}

/// For the handshake.
fn prepared(stream: TcpStream) -> Result<TcpStream, Refused> {
    let prepare = || {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))
    };
    prepare().map_err(|error| Refused(format!("a connection cannot be used: {error}")))?;
    Ok(stream)
}

/// For the search, which takes as long as it takes.
fn ready(stream: TcpStream) -> Result<TcpStream, Refused> {
    let prepare = || {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)
    };
    prepare().map_err(|error| Refused(format!("a connection cannot be used: {error}")))?;
    Ok(stream)
}
