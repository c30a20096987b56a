//! Edited documents: finished steps stay, everything else is as the document says.

use expect_test::{Expect, expect};
use stepwell_protocol::{PlanId, Timestamp};

use super::super::document::Document;
use super::*;

fn step(id: u32, text: &str, status: StepStatus) -> PlanStep {
    PlanStep {
        id,
        description: text.into(),
        expected_outcome: format!("{text} done"),
        status,
        result: (status == StepStatus::Completed).then(|| "ok".into()),
        evidence: (status == StepStatus::Completed).then(|| "seen".into()),
    }
}

/// A plan of `a` (completed), `b` (skipped), `c` (as given) and `d` (pending).
fn plan(status: PlanStatus, third: StepStatus) -> Plan {
    let steps =
        [("a", StepStatus::Completed), ("b", StepStatus::Skipped), ("c", third), ("d", StepStatus::Pending)];
    Plan {
        id: PlanId::from("plan_1"),
        goal: "A goal".into(),
        steps: steps.iter().zip(1..).map(|((text, status), id)| step(id, text, *status)).collect(),
        status,
        explored_files: Vec::new(),
        critical_files: Vec::new(),
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    }
}

fn check(plan: &Plan, items: &[(&str, &str)], expected: Expect) {
    let text: Vec<String> =
        items.iter().map(|(item, text)| format!("{item} {text}\n   Expected: {text} done\n")).collect();
    let document = Document::parse(&format!("## Steps\n{}", text.concat())).unwrap();
    let merged = merge(plan, &document.steps);
    let line = |step: &PlanStep| format!("{}. [{}] {}\n", step.id, step.status.mark(), step.description);
    let Merged { steps, restored, moved, skipped } = &merged;
    let steps: String = steps.iter().map(line).collect();
    expected.assert_eq(&format!("{steps}restored {restored:?} moved {moved:?} skipped {skipped:?}\n"));
    for (before, after) in plan.steps.iter().zip(&merged.steps).take(fixed_steps(plan)) {
        assert_eq!(before, after, "a finished step changed");
    }
}

#[test]
fn open_steps_are_added_changed_removed_and_reordered() {
    let plan = plan(PlanStatus::Executing, StepStatus::Pending);
    check(
        &plan,
        &[("1. [x]", "a"), ("2. [-]", "b"), ("3. [ ]", "d"), ("4. [ ]", "new"), ("5. [ ]", "c2")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [ ] d
            4. [ ] new
            5. [ ] c2
            restored [] moved [] skipped []
        "]],
    );
}

#[test]
fn finished_steps_are_restored() {
    let plan = plan(PlanStatus::Executing, StepStatus::Pending);
    let restored = |items: &[(&str, &str)], expected: Expect| check(&plan, items, expected);
    restored(
        &[("1. [x]", "a changed"), ("2. [-]", "b"), ("3. [ ]", "c")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [ ] c
            restored [1] moved [] skipped []
        "]],
    );
    restored(
        &[("1. [ ]", "c"), ("2. [ ]", "d")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [ ] c
            4. [ ] d
            restored [1, 2] moved [] skipped []
        "]],
    );
    restored(
        &[("1. [ ]", "a"), ("2. [-]", "b"), ("3. [ ]", "c")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [ ] c
            restored [1] moved [] skipped []
        "]],
    );
    restored(
        &[("1. [ ]", "first of all"), ("2. [x]", "a"), ("3. [-]", "b"), ("4. [ ]", "c")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [ ] first of all
            4. [ ] c
            restored [] moved [3] skipped []
        "]],
    );
}

#[test]
fn a_running_step_stays_and_later_ones_can_be_skipped() {
    check(
        &plan(PlanStatus::Executing, StepStatus::Running),
        &[("1. [x]", "a"), ("2. [-]", "b"), ("3. [>]", "c changed"), ("4. [-]", "d")],
        expect![[r"
            1. [x] a
            2. [-] b
            3. [>] c
            4. [ ] d
            restored [3] moved [] skipped [4]
        "]],
    );
}

#[test]
fn marks_mean_nothing_before_approval() {
    let mut plan = plan(PlanStatus::Draft, StepStatus::Pending);
    plan.steps.clear();
    check(
        &plan,
        &[("1. [x]", "a"), ("2. [-]", "b")],
        expect![[r"
            1. [ ] a
            2. [ ] b
            restored [] moved [] skipped []
        "]],
    );
}
