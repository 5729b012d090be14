//! A file that lost something never ends with 0: recordings are damaged, and every reading verb must print what it
//! prints of the whole file, or end with 4 and name the place.
//!
//! `layout` says, from the whole file alone and without the reader under test, where its numbers stand and which bytes
//! nothing vouches for; `mutation` damages it; `verbs` runs the program; `oracle` judges.

mod bytes;
mod layout;
mod mutation;
mod oracle;
mod pages;
mod recordings;
mod verbs;
