//! Containers by the names that their managers and systemd give their cgroups.

/// Suffixes of units.
const UNITS: [&str; 3] = [".scope", ".service", ".slice"];
/// What stands before an id of 64 digits.
const OF_IDS: [&str; 5] = ["docker-", "libpod-", "cri-containerd-", "crio-", ""];
/// What stands before a name, and after it.
const OF_NAMES: [(&str, &str); 4] =
    [("lxc.payload.", ""), ("lxc.payload.", ".scope"), ("machine-", ".scope"), ("systemd-nspawn@", ".service")];

/// The id, of 64 digits, or the name of the container that the cgroup `path` is of, or else one above it.
pub fn container_in(path: &str) -> Option<&str> {
    path.rsplit('/').find_map(container_of)
}

/// The container that a cgroup's own name, the last part of its path, tells of.
fn container_of(name: &str) -> Option<&str> {
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    let is_id = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = OF_IDS.iter().filter_map(|manager| stem.strip_prefix(manager)).find(is_id);
    let named = |(before, after): &(&str, &str)| name.strip_prefix(before)?.strip_suffix(after);
    id.or_else(|| OF_NAMES.iter().rev().find_map(named)).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_is_of_the_container_that_it_lies_in() {
        let id = "4f1c2a9b".repeat(8);
        for name in ["docker-ID.scope", "cri-containerd-ID.scope", "libpod-ID.scope", "ID"] {
            let path = format!("/a.slice/{}", name.replace("ID", &id));
            assert_eq!(container_in(&path), Some(id.as_str()), "{path}");
            assert_eq!(container_in(&(path + "/init.scope")), Some(id.as_str()));
        }
        for (path, name) in [
            ("/lxc.payload.web/system.slice", "web"),
            ("/machine.slice/machine-deb.scope", "deb"),
            ("/machine.slice/systemd-nspawn@deb.service/payload", "deb"),
        ] {
            assert_eq!(container_in(path), Some(name));
        }
        for path in
            ["/", "/system.slice/docker.service", "/docker-registry.service", "/machine.slice", "/libpod-conmon-x"]
        {
            assert_eq!(container_in(path), None, "{path}");
        }
    }
}
