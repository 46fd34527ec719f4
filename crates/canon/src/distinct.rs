//! Lists that do not repeat themselves.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};
use core::ops::Deref;

use crate::{Definitions, Issue, Json, List, Reader, Wire, code::codes, schema_with};

/// A list of `MIN` to `MAX` elements, no two of them equal.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Code, Distinct, Reader};
///
/// const LIST_INVALID: Code = Code::new("LIST_INVALID");
/// type Words = Distinct<String, 1, 3>;
///
/// assert!(Reader::read_document::<Words>(br#"["a", "b"]"#, LIST_INVALID).is_ok());
/// let issues = Reader::read_document::<Words>(br#"["a", "b", "a"]"#, LIST_INVALID).unwrap_err();
/// assert_eq!(issues[0].cause.unwrap().as_str(), "WIRE_NOT_UNIQUE");
/// assert_eq!(issues[0].pointer.to_string(), "/2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distinct<T, const MIN: usize, const MAX: usize>(
    // INVARIANT: no two elements are equal.
    List<T, MIN, MAX>,
);

impl<T: Ord, const MIN: usize, const MAX: usize> Distinct<T, MIN, MAX> {
    /// The list, if it has the right length and does not repeat itself.
    #[must_use]
    pub fn new(items: Vec<T>) -> Option<Self> {
        let is_distinct = items.iter().collect::<BTreeSet<_>>().len() == items.len();
        is_distinct.then(|| List::new(items)).flatten().map(Self)
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for Distinct<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Wire + Ord, const MIN: usize, const MAX: usize> Wire for Distinct<T, MIN, MAX> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let list = List::<T, MIN, MAX>::read(json, reader)?;
        let mut seen = BTreeSet::new();
        let repeated: Vec<usize> =
            list.iter().enumerate().filter(|(_, item)| !seen.insert(*item)).map(|(index, _)| index).collect();
        for (index, item) in repeated.iter().filter_map(|&index| Some((index, json.as_array()?.get(index)?)))
        {
            let issue =
                Issue::new(codes::WIRE_NOT_UNIQUE, format!("{} stands here twice", item.to_canonical()))
                    .with_expected("a list without repetitions");
            reader.at_index(index, |reader| reader.refuse(item, issue));
        }
        repeated.is_empty().then_some(Self(list))
    }

    fn write(&self) -> Json<'static> {
        self.0.write()
    }

    fn spell(&self, out: &mut String) {
        self.0.spell(out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        schema_with(List::<T, MIN, MAX>::schema(definitions), [("uniqueItems", Json::from(true))])
    }
}
