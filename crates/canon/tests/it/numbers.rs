//! Numbers: the profile's edges, and a second opinion on their digits.

use countersign_canon::{Json, Number, print_f64};

/// A small generator of repeatable randomness (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % u64::try_from(limit).unwrap()).unwrap()
    }

    /// An integer of the profile, small and large ones alike.
    pub(crate) fn integer(&mut self) -> i64 {
        let value = i64::try_from(self.bits() >> (11 + self.below(50))).unwrap();
        if self.below(2) == 0 { value } else { -value }
    }

    /// A double of the profile.
    pub(crate) fn double(&mut self) -> Number {
        loop {
            let bits = self.bits();
            let common = f64::from(i32::from_ne_bytes(bits.to_ne_bytes()[..4].try_into().unwrap())) / 1024.0;
            let value = if self.below(2) == 0 { f64::from_bits(bits) } else { common };
            if let Ok(number) = Number::from_f64(value) {
                return number;
            }
        }
    }
}

/// The code of a number's refusal, or its canonical spelling.
#[track_caller]
fn check(literal: &str, expected: &str) {
    let found = match Json::parse(literal.as_bytes()) {
        Ok(value) => value.to_canonical(),
        Err(issue) => issue.code.to_string(),
    };
    assert_eq!(found, expected, "{literal}");
}

#[test]
fn integers_end_where_doubles_skip() {
    check("9007199254740991", "9007199254740991");
    check("-9007199254740991", "-9007199254740991");
    check("9007199254740992", "JSON_INTEGER_RANGE");
    check("-9007199254740992", "JSON_INTEGER_RANGE");
    check("100000000000000000000000", "JSON_INTEGER_RANGE");
    check(&"9".repeat(10_000), "JSON_INTEGER_RANGE");
}

#[test]
fn fractions_and_exponents_are_refused_where_two_texts_would_share_a_value() {
    check("9007199254740991.0", "9007199254740991");
    check("9007199254740991.4", "9007199254740991");
    check("9007199254740991.5", "JSON_NUMBER_AMBIGUOUS");
    check("9007199254740992.0", "JSON_NUMBER_AMBIGUOUS");
    check("9.007199254740992e15", "JSON_NUMBER_AMBIGUOUS");
    check("-1e20", "JSON_NUMBER_AMBIGUOUS");
    check("9.99999999999999999e20", "1e+21");
    check("9.999999999999998e20", "JSON_NUMBER_AMBIGUOUS");
    check("1e21", "1e+21");
    check("-1e300", "-1e+300");
}

#[test]
fn numbers_beyond_a_double_are_refused() {
    check("1.7976931348623157e308", "1.7976931348623157e+308");
    check("1.7976931348623159e308", "JSON_NUMBER_OVERFLOW");
    check("-1e309", "JSON_NUMBER_OVERFLOW");
    check("5e-324", "5e-324");
    check("2e-324", "JSON_NUMBER_UNDERFLOW");
    check("-1e-400", "JSON_NUMBER_UNDERFLOW");
    check("0e-400", "0");
    check("0.000e5", "0");
}

#[test]
fn equal_numbers_have_one_spelling() {
    for literal in ["1", "1.0", "1e0", "10e-1", "0.1E1", "1.000"] {
        check(literal, "1");
    }
    for literal in ["0", "-0", "0.0", "-0.0", "0e9"] {
        check(literal, "0");
    }
}

#[test]
fn malformed_numbers_are_syntax_errors() {
    for literal in ["01", "-01", "1.", ".5", "+1", "1e", "1e+", "--1", "0x10", "1_000"] {
        let code = Json::parse(literal.as_bytes()).unwrap_err().code;
        assert!(
            ["JSON_SYNTAX", "JSON_UNEXPECTED_END", "JSON_TRAILING_DATA"].contains(&code.as_str()),
            "{literal} {code}"
        );
    }
    check("-", "JSON_UNEXPECTED_END");
}

/// The oracle of the other tests prints doubles with the same crate as we do. Rust's own formatter does not:
/// it must need as many digits, and differ only where two shortest spellings are equally near.
#[test]
fn digits_are_shortest_by_a_second_opinion() {
    let mut random = Random::new(754);
    let mut ties = 0;
    for _ in 0..300_000 {
        let value = random.double().as_f64();
        let mut ours = String::new();
        print_f64(value, &mut ours);
        assert_eq!(ours.parse::<f64>().unwrap().to_bits(), (value + 0.0).to_bits(), "{ours}");
        let rust = format!("{value:e}");
        let digits = |text: &str| -> String {
            let mantissa = text.split('e').next().unwrap();
            mantissa.chars().filter(char::is_ascii_digit).collect::<String>().trim_matches('0').into()
        };
        let (ours, rust) = (digits(&ours), digits(&rust));
        assert_eq!(ours.len(), rust.len(), "{value:e}");
        ties += usize::from(ours != rust);
    }
    assert!(ties < 300, "{ties} spellings differ in more than a tie");
}
