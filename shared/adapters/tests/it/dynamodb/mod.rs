//! Items written to and read from the emulator.

mod corpus;
mod faulty;
mod quota;
