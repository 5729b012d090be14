//! The trace.dat file, versions 6 and 7: header, options, sections, chunks.
