//! Measures of `domain` that need more than one module or a data set.

mod support;
