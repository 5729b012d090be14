//! The user that a command is run as.

use nix::unistd::{self, Gid, Uid};
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// A user of this machine, with the groups that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    name: String,
    home: OsString,
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
}

impl User {
    /// Looks `name` up, or the number of a user.
    ///
    /// # Errors
    /// [`UserError`].
    pub fn find(name: &str) -> Result<Self, UserError> {
        let failed = |errno| UserError::Unreadable(name.to_owned(), errno);
        let found = match name.parse() {
            Ok(number) => unistd::User::from_uid(Uid::from_raw(number)),
            Err(_) => unistd::User::from_name(name),
        };
        let user = found.map_err(failed)?.ok_or_else(|| UserError::Unknown(name.to_owned()))?;
        let c_name = CString::new(user.name.as_bytes()).map_err(|_| UserError::Unknown(name.to_owned()))?;
        let groups = unistd::getgrouplist(&c_name, user.gid).map_err(failed)?;
        Ok(User { name: user.name, home: user.dir.into_os_string(), uid: user.uid, gid: user.gid, groups })
    }

    /// The user's, its group's and all its groups' numbers.
    pub(super) fn ids(&self) -> (u32, u32, Vec<u32>) {
        (self.uid.as_raw(), self.gid.as_raw(), self.groups.iter().map(|gid| gid.as_raw()).collect())
    }

    /// `environment` as this user has it: `HOME`, `USER` and `LOGNAME` are its own.
    pub(super) fn environment(&self, environment: &[(OsString, OsString)]) -> Vec<CString> {
        let own =
            [("HOME", self.home.as_os_str()), ("USER", OsStr::new(&self.name)), ("LOGNAME", OsStr::new(&self.name))];
        let others = environment.iter().filter(|(key, _)| own.iter().all(|(name, _)| key != name));
        let others = others.map(|(key, value)| (key.as_os_str(), value.as_os_str()));
        let all = own.map(|(key, value)| (OsStr::new(key), value)).into_iter().chain(others);
        all.filter_map(|(key, value)| CString::new([key.as_bytes(), b"=", value.as_bytes()].concat()).ok()).collect()
    }
}

/// No such user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UserError {
    /// There is no such user.
    #[error("no user is called `{0}`")]
    Unknown(String),
    /// The machine's list of users cannot be read.
    #[error("failed to look up user `{0}`: {errno}", errno = .1.desc())]
    Unreadable(String, nix::errno::Errno),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_everywhere() {
        let root = User::find("root").unwrap();
        assert_eq!(root, User::find("0").unwrap());
        assert_eq!(root.ids().0, 0);
        let environment = [("HOME", "/nowhere"), ("PATH", "/bin")].map(|(k, v)| (k.into(), v.into()));
        let environment: Vec<String> =
            root.environment(&environment).into_iter().map(|s| s.into_string().unwrap()).collect();
        assert!(environment.contains(&"LOGNAME=root".to_owned()) && environment.contains(&"PATH=/bin".to_owned()));
        assert!(!environment.contains(&"HOME=/nowhere".to_owned()));
        assert_eq!(User::find("no such user"), Err(UserError::Unknown("no such user".to_owned())));
    }
}
