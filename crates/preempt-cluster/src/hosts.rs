//! The file of hosts: an address on each line, as in `10.0.0.7:2101`, in the order of the processes. Several processes of one
//! machine are several lines. `#` begins a comment. A number alone is a port of this machine.

use crate::Refused;
use std::net::{SocketAddr, ToSocketAddrs};

/// The addresses of all processes, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// As they were written, with the port.
    pub names: Vec<String>,
    /// What they mean.
    pub addresses: Vec<SocketAddr>,
}

/// More than this is a mistake.
const MOST: usize = 10_000;

impl Hosts {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Hosts, Refused> {
        let mut hosts = Hosts { names: Vec::new(), addresses: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let name = match line.parse::<u16>() {
                Ok(port) => format!("127.0.0.1:{port}"),
                Err(_) => line.to_string(),
            };
            let unknown =
                |why: String| Refused(format!("line {}: `{line}` is no address: {why}", number + 1));
            let mut meanings = name.to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
            let address = meanings.next().ok_or_else(|| unknown("nobody has this name".into()))?;
            if hosts.addresses.contains(&address) {
                return Err(Refused(format!("line {}: `{line}` is there twice", number + 1)));
            }
            hosts.names.push(name);
            hosts.addresses.push(address);
        }
        match hosts.names.len() {
            0 => Err(Refused("there is no address in it".into())),
            count if count > MOST => Err(Refused(format!("{count} addresses are too many"))),
            _ => Ok(hosts),
        }
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Does nothing leave this machine?
    pub fn are_local(&self) -> bool {
        self.addresses.iter().all(|address| address.ip().is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_address() {
        let hosts =
            Hosts::parse("# two here\n2101\n 127.0.0.1:2102 # the second\n\n[::1]:2101\n").expect("three");
        assert_eq!(hosts.names, ["127.0.0.1:2101", "127.0.0.1:2102", "[::1]:2101"]);
        assert!(hosts.are_local() && hosts.count() == 3);
        assert!(!Hosts::parse("192.0.2.1:80").expect("one").are_local());
    }

    #[test]
    fn what_is_no_address_is_said_with_its_line() {
        let why = |text: &str| Hosts::parse(text).expect_err("no hosts").0;
        assert!(why("# nobody\n").contains("no address in it"));
        assert!(why("2101\n70000\n").starts_with("line 2: `70000` is no address"));
        assert_eq!(why("2101\n127.0.0.1:2101\n"), "line 2: `127.0.0.1:2101` is there twice");
    }
}
