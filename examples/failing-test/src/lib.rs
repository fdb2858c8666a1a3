//! Makes the initials of a name.

/// Returns the first letter of every word of `name`, in upper case.
pub fn initials(name: &str) -> String {
    name.split(' ').filter_map(|word| word.chars().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn one_letter_a_word() {
        assert_eq!(initials("Ada Lovelace"), "AL");
    }

    #[test]
    fn upper_case() {
        assert_eq!(initials("grace brewster hopper"), "GBH");
    }

    #[test]
    fn any_space_between() {
        assert_eq!(initials("alan \t turing\n"), "AT");
    }
}
