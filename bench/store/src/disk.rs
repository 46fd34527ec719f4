//! What the disk can do: appends of a kilobyte, each synced.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::Path,
    time::{Duration, Instant},
};

/// How often the disk can sync, and how long it takes in the middle.
pub struct Disk {
    pub rate: f64,
    pub p50: Duration,
}

pub fn measure(folder: &Path) -> Disk {
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("raw")).unwrap();
    let (start, mut taken) = (Instant::now(), Vec::new());
    while start.elapsed() < Duration::from_secs(2) {
        let begun = Instant::now();
        file.write_all(&[7; 1024]).unwrap();
        file.sync_data().unwrap();
        taken.push(begun.elapsed());
    }
    let rate = taken.len() as f64 / start.elapsed().as_secs_f64();
    taken.sort_unstable();
    Disk { rate, p50: taken[taken.len() / 2] }
}
