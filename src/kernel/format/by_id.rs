//! Values by the ids of event types.

use crate::base::units::EventId;

/// Values by event id: a table as long as the greatest id, since each record is looked up.
#[derive(Clone, Debug)]
pub struct ById<T>(Vec<Option<T>>);

impl<T> ById<T> {
    /// The value of an id, as records have it.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&T> {
        self.0.get(usize::from(id))?.as_ref()
    }

    /// Sets the value of an id.
    pub fn insert(&mut self, id: EventId, value: T) {
        let at = usize::from(id.0);
        if self.0.len() <= at {
            self.0.resize_with(at.saturating_add(1), || None);
        }
        if let Some(slot) = self.0.get_mut(at) {
            *slot = Some(value);
        }
    }

    /// All values, by rising ids.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        ById(Vec::new())
    }
}

impl<T> FromIterator<(EventId, T)> for ById<T> {
    fn from_iter<I: IntoIterator<Item = (EventId, T)>>(values: I) -> Self {
        let mut all = ById::default();
        values.into_iter().for_each(|(id, value)| all.insert(id, value));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_an_id_counts() {
        let all: ById<&str> = [(EventId(7), "a"), (EventId(u16::MAX), "b"), (EventId(7), "c")].into_iter().collect();
        assert_eq!([all.get(7), all.get(u16::MAX), all.get(6)], [Some(&"c"), Some(&"b"), None]);
        assert_eq!(all.values().collect::<Vec<_>>(), [&"c", &"b"]);
        assert_eq!(ById::<u8>::default().get(0), None);
    }
}
