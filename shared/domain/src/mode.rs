//! Whether the service answers questions.

/// Whether questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are.
    Live,
    /// Pages and prepared answers only.
    ReadOnly,
    /// Nothing but the page and the status.
    Off,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Live, Self::ReadOnly, Self::Off];

    /// As written in the configuration and shown in the status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::ReadOnly => "read-only",
            Self::Off => "off",
        }
    }

    /// The mode of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
