//! Channels of every capacity.

use super::*;

#[test]
fn channels_deliver_in_order_and_disconnect() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let a = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let b = thread::spawn(move || other.send(3).unwrap());
        let received: Vec<i32> = receiver.iter().collect();
        a.join().unwrap();
        b.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        received
    });
    assert_eq!(seen, [[1, 2, 3], [1, 3, 2], [3, 1, 2]]);
    holds(|| {
        let (sender, receiver) = mpsc::channel();
        drop(receiver);
        assert!(sender.send(1).is_err());
    });
}

#[test]
fn bounded_channels_block_and_meet() {
    for capacity in [0, 1] {
        holds(move || {
            let (sender, receiver) = mpsc::sync_channel(capacity);
            let sent = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&sent);
            let child = thread::spawn(move || {
                for i in 0..3 {
                    sender.send(i).unwrap();
                    count.fetch_add(1, SeqCst);
                }
            });
            for i in 0..3 {
                assert!(sent.load(SeqCst) <= i + capacity);
                assert_eq!(receiver.recv(), Ok(i));
            }
            assert!(receiver.recv().is_err());
            child.join().unwrap();
        });
    }
    holds(|| {
        let (sender, _receiver) = mpsc::sync_channel(1);
        sender.try_send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    });
}

#[test]
fn receiving_with_a_time_out() {
    use mpsc::RecvTimeoutError::*;
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let child = thread::spawn(move || sender.send(1).unwrap());
        let received = receiver.recv_timeout(Duration::from_secs(1));
        child.join().unwrap();
        received.map_err(|error| matches!(error, Timeout))
    });
    assert_eq!(seen, [Ok(1), Err(true)]);
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let child = thread::spawn(move || drop(sender));
        let received = receiver.recv_timeout(Duration::from_secs(1));
        child.join().unwrap();
        matches!(received, Err(Disconnected))
    });
    assert_eq!(seen, [false, true]);
}

/// Nobody receives, or somebody does: only then can a message be handed over without waiting.
#[test]
fn try_send_on_a_rendezvous_channel() {
    holds(|| {
        let (sender, _receiver) = mpsc::sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    });
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let child = thread::spawn(move || receiver.recv().ok());
        let sent = sender.try_send(1).is_ok();
        drop(sender);
        (sent, child.join().unwrap())
    });
    assert_eq!(seen, [(false, None), (true, Some(1))]);
}
