//! Canonicalises a document of one megabyte, ours and the peer in turn, and reports megabytes per second.

use std::{fmt::Write as _, hint::black_box, time::Instant};

use countersign_canon::{Json, Sha256};

const ROUNDS: usize = 15;
const DOCUMENT_BYTES: usize = 1_000_000;

fn main() {
    let document = mixed_document();
    let ours = || Json::parse(document.as_bytes()).expect("the document is valid").to_canonical();
    let peer = || {
        let value: serde_json::Value = serde_json::from_str(&document).expect("the document is valid");
        serde_json_canonicalizer::to_string(&value).expect("the document is valid")
    };
    let sha256 = || Sha256::of(document.as_bytes());
    assert_eq!(ours(), peer(), "equal bytes before any timing");

    let (mut our_times, mut peer_times, mut hash_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        our_times.push(seconds(ours));
        peer_times.push(seconds(peer));
        hash_times.push(seconds(sha256));
    }
    let rate = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        document.len() as f64 / times[ROUNDS / 2] / 1e6
    };
    let (ours, peer, hash) = (rate(&mut our_times), rate(&mut peer_times), rate(&mut hash_times));
    println!("document: {} bytes, median of {ROUNDS} rounds, one thread", document.len());
    println!("countersign-canon         {ours:8.0} MB/s  parse, sort, print");
    println!("serde_json_canonicalizer  {peer:8.0} MB/s  the same");
    println!("SHA-256 alone             {hash:8.0} MB/s");
    println!("ratio ours / peer         {:8.2}", ours / peer);
}

fn seconds<T>(work: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// Objects as tools send them: unsorted keys, indentation, words in several scripts, escapes, integers, fractions.
fn mixed_document() -> String {
    let mut text = String::from("[\n");
    let mut index = 0_u64;
    while text.len() < DOCUMENT_BYTES {
        index += 1;
        let noise = index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
        let fraction = noise as f64 / (1u64 << 40) as f64;
        let separator = if index == 1 { "" } else { ",\n" };
        write!(
            text,
            "{separator}  {{\"session_id\": \"s-{noise:x}\", \"action_kind\": \"fs.write\", \"seq\": {index},\n   \
             \"payload\": {{\"path\": \"src/módulo/{index}.rs\", \"text\": \"line one\\n\\tline \\\"two\\\" — 第三行 \
             of a file that an agent writes\", \"bytes\": {noise}, \"score\": {fraction}}},\n   \
             \"tags\": [\"a\", \"b{index}\", true, null, -1, 0.25], \"context\": {{\"z\": {{}}, \"a\": []}}}}"
        )
        .expect("writing to a String cannot fail");
    }
    text.push_str("\n]\n");
    text
}
