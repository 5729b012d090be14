//! Names of the containers of Docker and of Podman, from their managers' files.

use serde_json::Value;
use std::fs;

/// Each container's name and id, of all that have both. Those of Kubernetes have their ids in the cgroups' names.
pub fn container_names() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/var/lib/docker/containers").into_iter().flatten().flatten() {
        let text = fs::read(entry.path().join("config.v2.json")).unwrap_or_default();
        found.extend(docker_name(&text).zip(entry.file_name().into_string().ok()));
    }
    let text = fs::read("/var/lib/containers/storage/overlay-containers/containers.json").unwrap_or_default();
    found.extend(podman_names(&text));
    found
}

fn docker_name(config: &[u8]) -> Option<String> {
    let config: Value = serde_json::from_slice(config).ok()?;
    Some(config.get("Name")?.as_str()?.trim_start_matches('/').to_owned())
}

fn podman_names(containers: &[u8]) -> Vec<(String, String)> {
    let all: Vec<Value> = serde_json::from_slice(containers).unwrap_or_default();
    let of = |container: &Value| {
        let id = container.get("id")?.as_str()?.to_owned();
        let names = container.get("names")?.as_array()?.iter();
        Some(names.filter_map(|name| Some((name.as_str()?.to_owned(), id.clone()))).collect::<Vec<_>>())
    };
    all.iter().filter_map(of).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_containers_are_their_managers() {
        assert_eq!(docker_name(br#"{"ID":"ab","Name":"/web"}"#).as_deref(), Some("web"));
        let podman = br#"[{"id":"cd","names":["x","y"]},{"id":"ef"}]"#;
        let pair = |name: &str| (name.to_owned(), "cd".to_owned());
        assert_eq!(podman_names(podman), [pair("x"), pair("y")]);
        assert!(podman_names(b"{").is_empty() && docker_name(b"").is_none());
    }
}
