//! How much memory a command holds, all its processes together.
//!
//! No limit of the kernel's fits: one on addresses or data breaks what reserves far more than it uses (Node, Java,
//! sanitizers), and groups of processes with a limit are not an ordinary user's to make everywhere. So it is looked at, the more
//! often the less is left.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::getpid;

use crate::plan::{Launch, Plan};
use crate::sys;

/// Faster than this memory is hardly filled: a look is due before what is left could be used up.
const BYTES_PER_MILLISECOND: u64 = 8 << 20;
const SOONEST_MILLISECONDS: u64 = 20;
/// The machine keeps at least this part of its memory, and need not keep more than `MOST_KEPT`.
const KEPT_PART: u64 = 32;
const MOST_KEPT: u64 = 512 << 20;

/// What a look found.
pub(super) enum Memory {
    /// Milliseconds until the next look is due.
    Fine(u64),
    /// Why the command cannot go on.
    UsedUp(String),
}

struct Process {
    number: i32,
    bytes: u64,
}

/// Looks at every process of the command.
pub(super) fn look(plan: &Plan) -> Memory {
    let page = sys::page_bytes();
    let mut processes = processes(plan, page);
    let limit = plan.limits.memory_bytes;
    let mut used: u64 = processes.iter().map(|process| process.bytes).sum();
    // Pages that a fork shares were counted for each; the exact number costs more, so it is asked for only here. Shares
    // move to those who are left while others end, so that one sum may count a page more often: both must be too much.
    for _ in 0..2 {
        if used <= limit {
            break;
        }
        for process in &mut processes {
            process.bytes = exact(process.number).unwrap_or_else(|| held(process.number, page));
        }
        used = processes.iter().map(|process| process.bytes).sum();
    }
    if used > limit {
        let largest = processes.iter().max_by_key(|process| process.bytes).map(told).unwrap_or_default();
        return Memory::UsedUp(format!(
            "the command was stopped because it used {} MB of memory, {} MB is the most (`memory_mb` in the settings){largest}",
            used >> 20,
            limit >> 20
        ));
    }
    // Files in memory that nobody has mapped are in no process's count.
    if let Some((total, available)) = machine()
        && available < (total / KEPT_PART).min(MOST_KEPT)
    {
        let largest = processes.iter().max_by_key(|process| process.bytes).map(told).unwrap_or_default();
        return Memory::UsedUp(format!(
            "the command was stopped because the memory of the machine is nearly used up: {} MB are left{largest}",
            available >> 20
        ));
    }
    Memory::Fine(((limit - used) / BYTES_PER_MILLISECOND).max(SOONEST_MILLISECONDS))
}

fn told(process: &Process) -> String {
    let name = fs::read_to_string(format!("/proc/{}/comm", process.number)).unwrap_or_default();
    format!("; most of it by `{}`: {} MB", name.trim_end(), process.bytes >> 20)
}

/// The processes of the command. In a namespace these are all but the first; elsewhere its descendants.
fn processes(plan: &Plan, page: u64) -> Vec<Process> {
    let own = getpid().as_raw_nonzero().get();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut numbers: Vec<i32> = numbers.filter(|number| *number != own).collect();
    if plan.launch == Launch::WithoutNamespaces {
        let descendants = descendants(own, &numbers);
        numbers.retain(|number| descendants.contains(number));
    }
    numbers.into_iter().map(|number| Process { number, bytes: held(number, page) }).collect()
}

/// What a process holds, with all it shares with forks of its own; nothing once it is ending.
fn held(number: i32, page: u64) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{number}/statm")).unwrap_or_default();
    private_pages(&statm).unwrap_or(0) * page
}

/// Of the second number, what is resident, without the third, which others may share: files and shared memory.
fn private_pages(statm: &str) -> Option<u64> {
    let mut numbers = statm.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    let (resident, shared) = (numbers.next()?, numbers.next()?);
    Some(resident.saturating_sub(shared))
}

/// A process's share of what it uses, shared memory included.
fn exact(number: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{number}/smaps_rollup")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some((field("Pss_Anon:")? + field("Pss_Shmem:").unwrap_or(0)) << 10)
}

fn descendants(own: i32, numbers: &[i32]) -> HashSet<i32> {
    let parent = |number: i32| -> Option<i32> {
        let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name in parentheses may hold anything.
        text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for number in numbers {
        if let Some(parent) = parent(*number) {
            children.entry(parent).or_default().push(*number);
        }
    }
    let mut found = HashSet::new();
    let mut left = vec![own];
    while let Some(number) = left.pop() {
        for child in children.remove(&number).unwrap_or_default() {
            found.insert(child);
            left.push(child);
        }
    }
    found
}

/// All memory of the machine, and what is left of it.
fn machine() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    };
    Some((field("MemTotal:")?, field("MemAvailable:")?))
}

#[cfg(test)]
mod tests {
    use super::private_pages;

    #[test]
    fn what_is_shared_does_not_count() {
        for (statm, pages) in [
            ("1000 300 120 5 0 200 0\n", Some(180)),
            ("1000 100 120 5 0 200 0\n", Some(0)),
            ("1000", None),
            ("", None),
            ("1 x 2", None),
        ] {
            assert_eq!(private_pages(statm), pages, "{statm}");
        }
    }
}
