//! RFC 8785: the examples of its sections and the numbers of its appendix B, on our canonicaliser and on the oracle.

use countersign_canon::{Json, print_f64};

#[track_caller]
fn check(text: &str, canonical: &str) {
    assert_eq!(Json::parse(text.as_bytes()).unwrap().to_canonical(), canonical);
    let seen_by_oracle: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json_canonicalizer::to_string(&seen_by_oracle).unwrap(), canonical);
}

/// Section 3.2.2: literals, numbers and strings.
#[test]
fn values_are_spelt_as_in_section_3_2_2() {
    check(
        r#"{
          "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }"#,
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
    );
}

/// Section 3.2.3: keys are sorted by UTF-16 code units, so U+1F600 (D83D DE00) comes before U+FB33.
#[test]
fn keys_are_sorted_as_in_section_3_2_3() {
    check(
        r#"{
          "\u20ac": "Euro Sign",
          "\r": "Carriage Return",
          "\ufb33": "Hebrew Letter Dalet With Dagesh",
          "1": "One",
          "\ud83d\ude00": "Emoji: Grinning Face",
          "\u0080": "Control",
          "\u00f6": "Latin Small Letter O With Diaeresis"
        }"#,
        concat!(
            r#"{"\r":"Carriage Return","1":"One",""#,
            "\u{80}",
            r#"":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","#,
            r#""😀":"Emoji: Grinning Face",""#,
            "\u{fb33}",
            r#"":"Hebrew Letter Dalet With Dagesh"}"#,
        ),
    );
}

#[test]
fn only_the_required_characters_are_escaped() {
    check(
        r#""\u0000\u0001\b\t\n\u000b\f\r\u001f \"\\\/\u007f\u2028\u2029\ufffe""#,
        "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\u{7f}\u{2028}\u{2029}\u{fffe}\"",
    );
}

#[test]
fn nested_empty_and_odd_keys_keep_their_place() {
    check(
        r#"{"": [], "a": {}, "A": [[]], "aa": 200, "a b": 56.0, "10": -0, "1": -0.0}"#,
        r#"{"":[],"1":0,"10":0,"A":[[]],"a":{},"a b":56,"aa":200}"#,
    );
}

/// Appendix B, on the number printer alone: the profile refuses some of these values.
#[test]
fn numbers_are_spelt_as_in_appendix_b() {
    let table: &[(u64, &str)] = &[
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in table {
        let mut printed = String::new();
        print_f64(f64::from_bits(*bits), &mut printed);
        assert_eq!(printed, *expected, "{bits:016x}");
    }
}
