//! The order of keys in printed mappings: what a person would expect, not what bytes say.
//!
//! Runs of digits compare by value (`a2` before `a10`), letters come after everything else, and
//! letters compare by code point. The comparison asks only about the first place where two keys
//! differ, so on exotic keys it is no total order; [`sort_by_key`] therefore brings a sort that
//! needs no such promise, where the standard library's may panic.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether `a` is printed before `b`.
#[inline]
pub(crate) fn less(a: &str, b: &str) -> bool {
    let at = first_difference(a.as_bytes(), b.as_bytes());
    match (a.as_bytes().get(at), b.as_bytes().get(at)) {
        (Some(&x), Some(&y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => x < y,
        (Some(_), Some(_)) => less_at(a, b, at),
        (None, Some(_)) => true,
        _ => false,
    }
}

#[inline]
fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    while let (Some(x), Some(y)) = (a.get(at), b.get(at))
        && x == y
    {
        at += 1;
    }
    at
}

/// Compares two keys that differ at byte `at`, where at least one is not an ASCII letter.
#[cold]
fn less_at(a: &str, b: &str, at: usize) -> bool {
    let at = a.floor_char_boundary(at);
    let (Some((prefix, rest_a)), Some(rest_b)) = (a.split_at_checked(at), b.get(at..)) else {
        return a < b;
    };
    let (Some(x), Some(y)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return a.len() < b.len();
    };
    match (is_letter(x), is_letter(y)) {
        (true, true) => x < y,
        (false, false) => {
            // A zero inside a number must not be taken for a leading zero.
            let inside_number = (x == '0' || y == '0')
                && prefix.chars().rev().take_while(|&c| is_digit(c)).any(|c| c != '0');
            let start = i64::from(inside_number);
            let (number_x, digits_x) = leading_number(rest_a, start);
            let (number_y, digits_y) = leading_number(rest_b, start);
            (number_x, digits_x, x) < (number_y, digits_y, y)
        }
        (_, y_is_letter) => y_is_letter,
    }
}

/// The value and the length of the digits that `text` starts with, as if `start` stood before them.
fn leading_number(text: &str, start: i64) -> (i64, usize) {
    text.chars().take_while(|&c| is_digit(c)).fold((start, 0), |(value, count), digit| {
        let digit = i64::from(u32::from(digit)) - i64::from(u32::from('0'));
        (value.wrapping_mul(10).wrapping_add(digit), count + 1)
    })
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    c.general_category_group() == GeneralCategoryGroup::Letter
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.general_category() == GeneralCategory::DecimalNumber
}

/// Lengths up to which insertion beats merging.
const SHORT: usize = 16;

/// Sorts `indices` so that the keys they name are in natural order; `scratch` is working space.
///
/// Stable, and safe with a comparison that contradicts itself.
pub(crate) fn sort_by_key<'a>(
    indices: &mut [u32],
    scratch: &mut Vec<u32>,
    key: impl Fn(u32) -> &'a str + Copy,
) {
    for run in indices.chunks_mut(SHORT) {
        insertion_sort(run, key);
    }
    let mut width = SHORT;
    while width < indices.len() {
        for pair in indices.chunks_mut(2 * width) {
            if let Some((left, right)) = pair.split_at_mut_checked(width) {
                scratch.clear();
                merge(left, right, scratch, key);
                pair.copy_from_slice(scratch);
            }
        }
        width *= 2;
    }
}

fn insertion_sort<'a>(run: &mut [u32], key: impl Fn(u32) -> &'a str) {
    for end in 1..run.len() {
        let index = run[end];
        let inserted = key(index);
        let mut place = end;
        while place > 0 && less(inserted, key(run[place - 1])) {
            run[place] = run[place - 1];
            place -= 1;
        }
        run[place] = index;
    }
}

fn merge<'a>(left: &[u32], right: &[u32], into: &mut Vec<u32>, key: impl Fn(u32) -> &'a str) {
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    while let (Some(&first), Some(&second)) = (left.peek(), right.peek()) {
        let from_right = less(key(second), key(first));
        into.extend(if from_right { right.next() } else { left.next() });
    }
    into.extend(left);
    into.extend(right);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(keys: &str) {
        let expected: Vec<&str> = keys.split(' ').collect();
        let mut shuffled = expected.clone();
        shuffled.sort_by_key(|key| key.bytes().rev().collect::<Vec<u8>>());
        let mut indices: Vec<u32> = (0u32..).take(shuffled.len()).collect();
        sort_by_key(&mut indices, &mut Vec::new(), |index| shuffled[index as usize]);
        let sorted: Vec<&str> = indices.iter().map(|&index| shuffled[index as usize]).collect();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn numbers_compare_by_value() {
        check("a1 a2 a10 a011");
        check("a1b2 a1b10 a2b1");
        check("0 00 1 01 2 10 100");
    }

    #[test]
    fn a_zero_inside_a_number_is_a_digit() {
        check("a1 a10 a11 a100");
        check("v1.9 v1.10 v10.1");
    }

    #[test]
    fn letters_come_last() {
        check("- . _ 1 A Z a b");
        check("a a- a. a1 aA ab");
        check("é é1 日");
    }

    #[test]
    fn long_lists_are_merged() {
        let keys: Vec<String> = (0..100).map(|n| format!("key{n}")).collect();
        check(&keys.join(" "));
    }

    #[test]
    fn contradictory_order_is_no_panic() {
        let keys: Vec<String> = (0..60u8)
            .map(|n| format!("{}{}", "9".repeat(usize::from(n) * 7 % 23), char::from(b'!' + n)))
            .collect();
        let mut indices: Vec<u32> = (0..60).rev().collect();
        sort_by_key(&mut indices, &mut Vec::new(), |index| &keys[index as usize]);
        indices.sort_unstable();
        assert_eq!(indices, (0..60).collect::<Vec<u32>>());
    }
}
