//! A million random values: our spelling is the oracle's, and reads back as itself from any other spelling.

use countersign_canon::{Json, Number, Value};

use crate::numbers::Random;

#[test]
fn a_million_random_values_round_trip_and_agree_with_the_oracle() {
    let mut random = Random::new(8785);
    for _ in 0..1_000_000 {
        let value = random_value(&mut random, 0);
        let canonical = value.to_canonical();

        let parsed = Json::parse(canonical.as_bytes()).unwrap();
        assert_eq!(parsed, value);
        assert_eq!(parsed.to_canonical(), canonical);

        let spelt_otherwise = spell_otherwise(&value, &mut random);
        let reparsed = Json::parse(spelt_otherwise.as_bytes()).unwrap();
        assert_eq!(reparsed.to_canonical(), canonical, "{spelt_otherwise}");

        let seen_by_oracle: serde_json::Value = serde_json::from_str(&spelt_otherwise).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&seen_by_oracle).unwrap(), canonical);
    }
}

fn random_value(random: &mut Random, depth: usize) -> Json<'static> {
    match random.below(if depth < 4 { 8 } else { 6 }) {
        0 => Value::Null.into(),
        1 => Json::from(random.below(2) == 0),
        2 => Json::from(Number::from_i64(random.integer()).unwrap()),
        3 => Json::from(random.double()),
        4 | 5 => Json::from(random_text(random)),
        6 => Json::array((0..random.below(4)).map(|_| random_value(random, depth + 1)).collect::<Vec<_>>()),
        _ => Json::object(
            (0..random.below(5))
                .map(|_| (random_text(random), random_value(random, depth + 1)))
                .collect::<Vec<_>>(),
        ),
    }
}

/// Texts that sort differently by bytes and by UTF-16 units, need escapes, or collide.
fn random_text(random: &mut Random) -> String {
    const CHARACTERS: [char; 16] = [
        'a',
        'b',
        'Z',
        '0',
        '"',
        '\\',
        '/',
        '\n',
        '\u{1}',
        '\u{7f}',
        'é',
        '€',
        '\u{e000}',
        '\u{ffff}',
        '😀',
        '\u{10ffff}',
    ];
    (0..random.below(6)).map(|_| CHARACTERS[random.below(CHARACTERS.len())]).collect()
}

/// The same value with other spaces, escapes, key order and number spellings.
fn spell_otherwise(value: &Json<'_>, random: &mut Random) -> String {
    let space = |random: &mut Random| ["", " ", "\n\t", "\r\n"][random.below(4)];
    match &value.value {
        Value::Null => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => match random.below(3) {
            0 => format!("{:e}", number.as_f64()),
            1 => format!("{number}"),
            _ => format!("{:?}", number.as_f64()).replace('e', "E"),
        },
        Value::String(text) => spell_text(text, random),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| spell_otherwise(item, random)).collect();
            format!("[{0}{1}{0}]", space(random), items.join(","))
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object
                .members()
                .iter()
                .map(|member| {
                    let key = spell_text(&member.key, random);
                    format!("{key}{}:{}", space(random), spell_otherwise(&member.value, random))
                })
                .collect();
            let turn = random.below(members.len().max(1));
            members.rotate_left(turn);
            format!("{{{}{}}}", space(random), members.join(", "))
        }
    }
}

fn spell_text(text: &str, random: &mut Random) -> String {
    let mut spelt = String::from('"');
    for character in text.chars() {
        if character < ' ' || matches!(character, '"' | '\\') || random.below(4) == 0 {
            spelt.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")));
        } else {
            spelt.push(character);
        }
    }
    spelt.push('"');
    spelt
}
