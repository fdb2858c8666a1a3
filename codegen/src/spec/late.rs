//! A part of the spec that is read when it is first asked for. It decides nothing about what is read late.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, LazyLock},
};

type Read<T> = Box<dyn FnOnce() -> T + Send>;

/// A value that is there from the start, or made when it is first asked for; copies share it.
pub struct Late<T>(Arc<LazyLock<T, Read<T>>>);

impl<T: 'static> Late<T> {
    /// Returns a value that `read` makes when it is first asked for.
    pub fn new(read: impl FnOnce() -> T + Send + 'static) -> Late<T> {
        Late(Arc::new(LazyLock::new(Box::new(read))))
    }

    /// Returns a value that is there.
    pub fn now(value: T) -> Late<T>
    where
        T: Send,
    {
        Late::new(move || value)
    }
}

impl<T: Default + 'static> Default for Late<T> {
    fn default() -> Late<T> {
        Late::new(T::default)
    }
}

impl<T> Clone for Late<T> {
    fn clone(&self) -> Late<T> {
        Late(Arc::clone(&self.0))
    }
}

impl<T> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Late<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<'a, T> IntoIterator for &'a Late<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.deref().into_iter()
    }
}
