//! What is told while a scan runs, with a very short second.

use std::{sync::mpsc, thread, time::Duration};

use super::Progress;

#[test]
fn the_count_is_told_until_the_end_and_then_taken_back() {
    let progress = Progress::default();
    (0..3).for_each(|_| progress.file());
    let (done, waiting) = mpsc::channel::<()>();
    let (say, said) = mpsc::channel();
    thread::scope(|scope| {
        let told = &progress;
        scope.spawn(move || {
            told.tell(&waiting, Duration::from_millis(1), |text| say.send(text.to_owned()).unwrap());
        });
        assert_eq!(said.recv().unwrap(), "\r3 files searched");
        progress.file();
        let mut next = said.recv().unwrap();
        while next == "\r3 files searched" {
            next = said.recv().unwrap();
        }
        assert_eq!(next, "\r4 files searched");
        drop(done);
    });
    assert_eq!(said.try_iter().last().unwrap(), "\r\u{1b}[K");
}

#[test]
fn a_scan_that_ends_at_once_tells_nothing() {
    let (done, waiting) = mpsc::channel::<()>();
    drop(done);
    Progress::default().tell(&waiting, Duration::from_secs(1), |text| panic!("{text}"));
}
