//! Messages between Stepwell and an open sandbox: a length, JSON, and descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stepwell_workspace::process::UserSignal;

use crate::plan::{HostPath, Watched};

/// Descriptors that one message carries at most: the standard streams of a program.
const MOST_DESCRIPTORS: usize = 3;
/// Bytes of a message; a program's words and variables are below two megabytes, and may double as JSON.
pub(crate) const LONGEST: usize = 8 << 20;

/// What Stepwell asks of the first process of an open sandbox. Each has one [`Answer`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Tells that the sandbox is built.
    Hello,
    /// Connects to an address of the sandbox's loopback; the connection comes with the answer.
    Connect { address: SocketAddr },
    /// Listens on a port of the sandbox's loopback; the listener comes with the answer.
    Listen,
    /// Opens a terminal; both of its ends come with the answer.
    Terminal,
    /// Sends a user signal to a process that handles it, by its number inside.
    Ask { process: u32, signal: AskSignal },
    /// Starts what the program at the other end of a connection, which comes with it, asks for.
    Join,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum AskSignal {
    First,
    Second,
}

impl From<UserSignal> for AskSignal {
    fn from(signal: UserSignal) -> Self {
        match signal {
            UserSignal::First => Self::First,
            UserSignal::Second => Self::Second,
        }
    }
}

impl From<AskSignal> for UserSignal {
    fn from(signal: AskSignal) -> Self {
        match signal {
            AskSignal::First => Self::First,
            AskSignal::Second => Self::Second,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Listening {
        port: u16,
    },
    Terminal {
        path: HostPath,
    },
    /// The kernel's number of the error, where it has one.
    Failed {
        code: Option<i32>,
        problem: String,
    },
}

/// A program to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Join {
    pub program: HostPath,
    pub arguments: Vec<HostPath>,
    pub folder: HostPath,
    pub environment: Vec<(HostPath, HostPath)>,
}

/// What a prepared sandbox is given on the launcher's standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Folders in which nothing may appear that steers tools or agents, as they are right before the command.
    pub watched: Vec<Watched>,
    pub command: Join,
}

/// A signal that is passed on to a program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PassedOn {
    pub signal: i32,
}

/// Sends a message with descriptors.
pub(crate) fn send(
    mut stream: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    let bytes = [&length.to_le_bytes()[..], &text].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    let sent = sendmsg(stream, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL)?;
    stream.write_all(&bytes[sent..])
}

/// Receives a message with its descriptors; `None` at the end of the stream.
pub(crate) fn receive<T: DeserializeOwned>(mut stream: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut head = [0; 4];
    let mut descriptors = Vec::new();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(stream, &mut [IoSliceMut::new(&mut head)], &mut beside, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?.bytes,
        }
    };
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    if received == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut head[received..])?;
    let length = u32::from_le_bytes(head) as usize;
    if length > LONGEST {
        return Err(io::Error::other("the message is too long"));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text)?;
    Ok(Some((serde_json::from_slice(&text)?, descriptors)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn messages_arrive_with_their_descriptors_and_in_order() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut far, near) = UnixStream::pair().unwrap();
        let many: Vec<HostPath> = (0..2000).map(|at| HostPath::from(format!("/some/word/{at}"))).collect();
        let join = Join {
            program: "/bin/true".into(),
            arguments: many.clone(),
            folder: "/".into(),
            environment: vec![("A".into(), "b".into())],
        };
        let sender = std::thread::spawn(move || {
            send(&one, &join, &[near.as_fd()]).unwrap();
            send(&one, &Request::Hello, &[]).unwrap();
        });
        let (first, descriptors) = receive::<Join>(&other).unwrap().unwrap();
        sender.join().unwrap();
        assert_eq!(first.arguments, many);
        let [descriptor] = <[OwnedFd; 1]>::try_from(descriptors).unwrap();
        UnixStream::from(descriptor).write_all(b"through").unwrap();
        let mut told = [0; 7];
        far.read_exact(&mut told).unwrap();
        assert_eq!(&told, b"through");
        let (second, none) = receive::<Request>(&other).unwrap().unwrap();
        assert!(matches!(second, Request::Hello) && none.is_empty());
        assert!(receive::<Request>(&other).unwrap().is_none());
    }

    #[test]
    fn messages_that_are_too_long_or_no_json_are_errors() {
        for bytes in [&[0xff; 4][..], &[2, 0, 0, 0, b'{', b'x'], &[9, 0]] {
            let (mut one, other) = UnixStream::pair().unwrap();
            one.write_all(bytes).unwrap();
            drop(one);
            assert!(receive::<Request>(&other).is_err(), "{bytes:?}");
        }
    }
}
