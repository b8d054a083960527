//! Sets of indexes in the status of a Job, such as `0,2-4`.

/// What is wrong with a set of indexes below a limit, in words.
pub(super) fn fault(text: &str, limit: i64) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let mut last = None;
    for part in text.split(',') {
        match interval(part, limit) {
            Err(fault) => return Some(fault),
            Ok((first, _)) if last.is_some_and(|last| last >= first) => {
                return Some(unordered(last.unwrap_or_default(), first));
            }
            Ok((_, end)) => last = Some(end),
        }
    }
    None
}

/// The first index that two sets have in common, if their parts are in order. Parts that cannot be read
/// are passed over.
pub(super) fn overlap(one: &str, other: &str, limit: i64) -> Option<i64> {
    let mut one = one.split(',').filter_map(|part| interval(part, limit).ok()).peekable();
    let mut other = other.split(',').filter_map(|part| interval(part, limit).ok()).peekable();
    loop {
        let (a, b) = (*one.peek()?, *other.peek()?);
        if a.0 <= b.1 && b.0 <= a.1 {
            return Some(a.0.max(b.0));
        }
        if a.0 <= b.0 {
            one.next()
        } else {
            other.next()
        };
    }
}

fn interval(part: &str, limit: i64) -> Result<(i64, i64), String> {
    let mut ends = part.split('-');
    let (first, last) = (ends.next().unwrap_or_default(), ends.next());
    if ends.next().is_some() {
        return Err(format!(
            "the fragment {part:?} violates the requirement that an index interval can have at most two \
             parts separated by '-'"
        ));
    }
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {text:?}")),
        Ok(index) if index >= limit => Err(format!("too large index: {text:?}")),
        Ok(index) => Ok(index),
    };
    let first = index(first)?;
    let last = last.map(index).transpose()?;
    match last {
        Some(last) if first >= last => Err(unordered(first, last)),
        last => Ok((first, last.unwrap_or(first))),
    }
}

fn unordered(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}
