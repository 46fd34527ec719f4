//! The envelope is closed, exact and survives a round trip.

use alloc::{string::ToString as _, vec::Vec};

use countersign_canon::{Reader, Wire as _};

use crate::{Event, StreamId, ledger_codes::URM_EVENT_INVALID};

const EVENT: &str = r#"{"context":{"endpoint":"/v1/decisions","role":null},"detail":{"decision_code":"PENDING"},"event":"POLICY_EVAL_START","schema":"urm-events@1","seq":1,"source":{"component":"service","provider":"countersign","version":"0.1.0"},"stream_id":"urm_audit:none","ts":"2026-02-12T09:10:00Z"}"#;

/// Reads the envelope with one text replaced; the pointers of what is wrong.
fn check(from: &str, to: &str, expected: &[&str]) {
    let text = EVENT.replace(from, to);
    let pointers: Vec<_> = match Reader::read_document::<Event>(text.as_bytes(), URM_EVENT_INVALID) {
        Ok(event) => {
            assert_eq!(event.write().to_canonical(), text);
            Vec::new()
        }
        Err(issues) => issues.iter().map(|issue| issue.pointer.to_string()).collect(),
    };
    assert_eq!(pointers, expected, "{text}");
}

#[test]
fn an_envelope_reads_and_writes_back_to_the_same_bytes() {
    check("", "", &[]);
    check("null", "\"copilot\"", &[]);
    check("urm_audit:none", "copilot:ses_1", &[]);
}

#[test]
fn the_envelope_is_closed_and_every_field_checked() {
    check("\"seq\":1", "\"seq\":0", &["/seq"]);
    check("\"seq\":1,", "\"seq\":1,\"extra\":1,", &["/extra"]);
    check("urm-events@1", "urm-events@2", &["/schema"]);
    check("POLICY_EVAL_START", "POLICY_EVAL_STRAT", &["/event"]);
    check("09:10:00Z", "09:10:00+00:00", &["/ts"]);
    check(",\"role\":null", "", &["/context"]);
    check("{\"decision_code\":\"PENDING\"}", "[]", &["/detail"]);
    check("urm_audit:none", "urm_audit:", &["/stream_id"]);
}

#[test]
fn a_stream_has_one_of_four_forms() {
    for good in ["copilot:a", "worker:run-1", "urm_audit:none", "urm_audit:ses_9", "urm_policy"] {
        assert_eq!(StreamId::parse(good).map(|stream| stream.to_string()).as_deref(), Ok(good));
    }
    for bad in ["", "copilot", "copilot:", "copilot:1", "urm_policy:a", "other:a", "copilot:é", "worker: a"]
    {
        assert!(StreamId::parse(bad).is_err(), "{bad}");
    }
}
