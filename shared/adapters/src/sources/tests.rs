//! Pages of every format, read from folders of their own; the real manual is read too.
