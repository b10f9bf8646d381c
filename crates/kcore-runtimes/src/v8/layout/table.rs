//! How tables of numbers by version are written, and read.

use crate::v8::Version;

/// The versions that the columns of tables are of: those of Node.js 16, 18, 20, 22, 24, 25 and 26, and of Deno 2.4 to 2.9.
pub const VERSIONS: [(u64, u64); 11] = [
    (9, 4),
    (10, 2),
    (11, 3),
    (12, 4),
    (13, 6),
    (13, 7),
    (14, 1),
    (14, 5),
    (14, 6),
    (14, 9),
    (15, 0),
];

/// Those of them that are of Deno alone.
const OF_DENO: [(u64, u64); 4] = [(13, 7), (14, 5), (14, 9), (15, 0)];

/// A column of the tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Column(usize);

impl Column {
    /// All of them, the oldest first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..VERSIONS.len()).map(Self)
    }

    /// The column of a version, if there is one.
    pub fn of(version: Version) -> Option<Self> {
        let wanted = (version.major, version.minor);
        VERSIONS.iter().position(|known| *known == wanted).map(Self)
    }

    /// The column of the version that is nearest by number, the older of two. Minor numbers end at 9.
    pub fn nearest(version: Version) -> Self {
        let number = |major: u64, minor: u64| major.saturating_mul(10).saturating_add(minor);
        let wanted = number(version.major, version.minor);
        let distance =
            |(_, (major, minor)): &(usize, &(u64, u64))| number(*major, *minor).abs_diff(wanted);
        let nearest = VERSIONS.iter().enumerate().min_by_key(distance);
        Self(nearest.map_or(0, |(column, _)| column))
    }

    /// The version, as people write it.
    pub fn name(self) -> String {
        let (major, minor) = VERSIONS.get(self.0).copied().unwrap_or_default();
        format!("{major}.{minor}")
    }

    /// Whether a release of Node.js has it.
    pub fn is_of_node(self) -> bool {
        VERSIONS.get(self.0).is_some_and(|known| !OF_DENO.contains(known))
    }

    /// Whether it is of `major`.`minor` or newer.
    pub fn is_since(self, major: u64, minor: u64) -> bool {
        VERSIONS.get(self.0).is_some_and(|known| *known >= (major, minor))
    }

    /// What a table of anything says in this column.
    pub fn value_of<T: Copy>(self, table: &[T; VERSIONS.len()]) -> Option<T> {
        table.get(self.0).copied()
    }

    /// What a row says in this column.
    pub fn value(self, row: [u64; VERSIONS.len()]) -> u64 {
        row.get(self.0).copied().unwrap_or_default()
    }
}

/// Says what a constant of V8's metadata is, by its name without `v8dbg_`.
pub type Metadata<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// What metadata says under the first of these names that it has.
pub fn first(metadata: Metadata<'_>, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| metadata(name))
}

/// Declares a struct of numbers, with the names that metadata may have for each, and its value by
/// version, which counts where metadata does not have it.
macro_rules! table {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $($(#[$about:meta])* $field:ident: [$($spelling:literal),* $(,)?] = $row:expr;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$about])* pub $field: u64,)*
        }

        impl $name {
            /// What metadata says, and for the rest what is in a column of the tables.
            pub fn load(
                column: $crate::v8::layout::Column,
                metadata: $crate::v8::layout::Metadata<'_>,
            ) -> Self {
                Self {
                    $($field: $crate::v8::layout::table::first(metadata, &[$($spelling),*])
                        .unwrap_or_else(|| column.value($row)),)*
                }
            }
        }
    };
}

pub(super) use table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_between_two_is_in_no_column_and_near_one_of_them() {
        let between = Version::new([11, 8, 172, 17]);
        assert_eq!(Column::of(between), None);
        assert_eq!(Column::nearest(between).name(), "11.3");
        assert_eq!(Column::nearest(Version::new([10, 1, 124, 8])).name(), "10.2");
        assert_eq!(Column::nearest(Version::new([8, 4, 0, 0])).name(), "9.4");
        assert_eq!(Column::nearest(Version::new([15, 2, 0, 0])).name(), "15.0");
    }

    #[test]
    fn patches_do_not_count() {
        let column = Column::of(Version::new([12, 4, 999, 1])).unwrap();
        assert_eq!(column.value(std::array::from_fn(|column| column as u64)), 3);
        assert!(column.is_since(12, 4) && column.is_since(9, 4) && !column.is_since(13, 6));
    }
}
