//! How much memory this process has, and how much more there is: the system says it. Where it does not (only Linux is
//! asked), nothing is known, and only the engines' own accounts count.

use std::path::{Path, PathBuf};

/// Bytes of this process that are in memory now.
pub fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size())
}

/// From the auxiliary vector, pairs of words of which the one with key 6 (`AT_PAGESZ`) is asked for.
fn page_size() -> u64 {
    static SIZE: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *SIZE.get_or_init(|| {
        let words = std::fs::read("/proc/self/auxv").unwrap_or_default();
        let (words, _) = words.as_chunks::<{ size_of::<usize>() }>();
        let (pairs, _) = words.as_chunks::<2>();
        let found = pairs.iter().find(|[key, _]| usize::from_ne_bytes(*key) == 6);
        found.map_or(4096, |[_, size]| usize::from_ne_bytes(*size) as u64)
    })
}

/// Bytes that the machine, and the group of processes that this one belongs to, could still give.
pub fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| machine_room(&text));
    machine.into_iter().chain(group_room()).min()
}

/// `MemAvailable:   23011228 kB`
fn machine_room(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The least that a control group above this process leaves, in version 2 of the interface or in version 1.
fn group_room() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    group_folders(&groups).iter().filter_map(|folder| room_in(folder)).min()
}

/// The folder of every group that may limit memory: this process's own and those above it. Inside a container the
/// names may be those outside, so the root is always among them.
fn group_folders(groups: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        folders.extend(own.ancestors().take_while(|folder| folder.starts_with(root)).map(PathBuf::from));
    }
    folders
}

/// What the group may have, less what it has; what was read from files can be given back.
fn room_in(folder: &Path) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
    let most = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = text("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok());
    Some(most.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read() {
        assert_eq!(machine_room("MemTotal: 9 kB\nMemAvailable:   3 kB\n"), Some(3072));
        assert_eq!(machine_room("MemAvailable: many"), None);
        let folders = group_folders("12:cpu,memory:/a/b\n3:cpu:/x\n0::/c\nnonsense\n");
        let expected =
            ["memory/a/b", "memory/a", "memory", "c", ""].map(|name| Path::new("/sys/fs/cgroup").join(name));
        assert_eq!(folders, expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_and_there_is_more() {
        let before = resident().expect("Linux says it");
        let bytes = vec![1u8; 32 << 20];
        let after = resident().expect("Linux says it");
        assert!(after >= before + (16 << 20), "{before} {after} {}", bytes.len());
        assert!(available().is_some_and(|bytes| bytes > 0));
        assert!(page_size().is_power_of_two());
    }
}
