//! Parsing and rendering plan documents: steps, text that is preserved, faults with their line.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use stepwell_protocol::{PlanId, PlanStatus, Timestamp};

use super::super::merge::merge;
use super::*;

fn check(text: &str, expected: Expect) {
    let told = match Document::parse(text) {
        Ok(document) => {
            let goal = document.goal.as_deref().unwrap_or("no goal").to_owned();
            let line = |step: &DocumentStep| {
                let DocumentStep { line, number, mark, description, expected } = step;
                let number = number.map_or("-".to_owned(), |number| number.to_string());
                format!("{line}: {number} [{}] {description:?} => {expected:?}\n", mark.mark())
            };
            format!("{goal}\n{}", document.steps.iter().map(line).collect::<String>())
        }
        Err(faults) => {
            let lines: Vec<String> = faults.iter().map(|fault| format!("{fault}\n")).collect();
            lines.concat()
        }
    };
    expected.assert_eq(&told);
}

fn plan(steps: Vec<PlanStep>) -> Plan {
    Plan {
        id: PlanId::from("plan_1"),
        goal: "A goal".into(),
        steps,
        status: PlanStatus::Draft,
        explored_files: Vec::new(),
        critical_files: Vec::new(),
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    }
}

#[test]
fn steps_are_found_in_the_forms_people_and_models_write() {
    check(
        "# Plan: Add a login\n\nWhy: people ask.\n\n## Implementation steps\nIn this order.\n\n\
         1. [x] Add the crate\n   in `Cargo.toml`\n   - Expected: `cargo check` passes\n   - Result: done\n\
         2) Write the page\n   **Expected outcome:** it shows\n      a form\n\n## Notes\n1. no step\n",
        expect![[r#"
            Add a login
            8: 1 [x] "Add the crate\nin `Cargo.toml`" => "`cargo check` passes"
            12: 2 [ ] "Write the page" => "it shows\na form"
        "#]],
    );
    check(
        "## 实现步骤\n1. 安装依赖\n   预期：能编译\n2. [-] 配置 预期结果：能登录\n",
        expect![[r#"
            no goal
            2: 1 [ ] "安装依赖" => "能编译"
            4: 2 [-] "配置" => "能登录"
        "#]],
    );
    check(
        "# Title\n## Steps\n- [ ] one (expected: a)\n- Expected: not a step\n- two\n  - Expected: b\n### Sub\ntext\n",
        expect![[r#"
            Title
            3: - [ ] "one (expected: a)" => "not a step"
            5: - [ ] "two" => "b\n### Sub\ntext"
        "#]],
    );
    check(
        "## Steps\n\n### Step 1: Look\nInto it.\nExpected: seen\n### 2. Mend\nExpected: green\n",
        expect![[r#"
            no goal
            3: 1 [ ] "Look\nInto it." => "seen"
            6: 2 [ ] "Mend" => "green"
        "#]],
    );
    check("prose\n```\n## Steps\n1. in a code block\n```\n", expect![["no goal\n"]]);
}

#[test]
fn faults_name_their_lines() {
    check(
        "# T\n## Steps\n1. no outcome\n2. fine\n   Expected: x\n3. \n   Expected: y\n",
        expect![[r"
            line 3: the step has no line `Expected: ...` that says how its outcome is known
            line 6: the step says nothing; write what is to be done
        "]],
    );
    let many: Vec<String> = (1..=101).map(|n| format!("{n}. a\n   Expected: b\n")).collect();
    check(
        &format!("## Steps\n{}", many.concat()),
        expect![["line 202: a plan has at most 100 steps; make larger ones\n"]],
    );
    let long = format!("# T\n{}", "x".repeat(LONGEST_DOCUMENT));
    check(&long, expect![["line 1: the document is longer than 256 KiB\n"]]);
}

#[test]
fn sections_are_replaced_added_and_extended() {
    let text = "# T\n\n## Steps\n\n1. a\n   - Expected: b\n\n## Notes\n\nold\n";
    let replaced = Document::with_section(text, "notes", "## Notes\nnew");
    expect![[r"
        # T

        ## Steps

        1. a
           - Expected: b

        ## Notes

        new
    "]]
    .assert_eq(&replaced);
    let added = Document::with_section(text, "Risks", "none");
    assert!(added.ends_with("\nold\n\n## Risks\n\nnone\n"), "{added}");
    let steps = Document::with_section(text, "Implementation steps", "1. c\n   Expected: d");
    assert_eq!(Document::parse(&steps).unwrap().steps.len(), 1, "there is one section of steps: {steps}");
    let extended = Document::appended(text, "2. e\n   Expected: f");
    assert_eq!(Document::parse(&extended).unwrap().steps.len(), 2, "{extended}");
    assert!(Document::appended(text, "More prose.").ends_with("old\n\nMore prose.\n"));
}

#[test]
fn prose_is_kept_word_for_word() {
    let text = "# Plan: T\n\nSome *prose*.\n\n## Steps\n\nFirst words.\n\n1. [ ] a\n   - Expected: b\n\n## After\n\n- x\n";
    let document = Document::parse(text).unwrap();
    let steps = merge(&plan(Vec::new()), &document.steps).steps;
    assert_eq!(document.render(&plan(steps)), text);
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-zA-Z0-9 `#.:()*_\\[\\]é步-]{1,20}", 1..4).prop_map(|lines| lines.join("\n"))
}

fn any_steps() -> impl Strategy<Value = Vec<PlanStep>> {
    let status = prop_oneof![
        Just(StepStatus::Pending),
        Just(StepStatus::Completed),
        Just(StepStatus::Skipped),
        Just(StepStatus::Failed),
    ];
    let step = (texts(), texts(), status, proptest::option::of(texts()));
    proptest::collection::vec(step, 0..6).prop_map(|steps| {
        let step =
            |(index, (description, expected, status, result)): (usize, (String, String, _, _))| PlanStep {
                id: index as u32 + 1,
                description: tidy(&description),
                expected_outcome: tidy(&expected),
                status,
                result,
                evidence: None,
            };
        steps.into_iter().enumerate().map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What is written comes back, unless a line of a step looks like a part of the document itself.
    #[test]
    fn a_written_document_reads_the_same(steps in any_steps()) {
        let says = |step: &PlanStep| !step.description.is_empty() && !step.expected_outcome.is_empty();
        prop_assume!(steps.iter().all(says));
        let labels = |text: &str| text.lines().any(|line| label_of(line).is_some());
        prop_assume!(!steps.iter().any(|step| labels(&step.description) || labels(&step.expected_outcome)));
        let plan = plan(steps);
        let text = Document::new("A goal", Some("Words.")).render(&plan);
        let document = Document::parse(&text).unwrap();
        let read: Vec<_> = document.steps.iter().map(|step| (step.mark, &step.description, &step.expected)).collect();
        let wanted: Vec<_> =
            plan.steps.iter().map(|step| (step.status, &step.description, &step.expected_outcome)).collect();
        prop_assert_eq!(read, wanted);
        prop_assert_eq!(document.render(&plan), text);
    }

    /// Anything at all can stand in the file: it is read or has faults, and never breaks the reader.
    #[test]
    fn any_text_is_read_or_has_faults(text in "(?s).{0,200}", steps in "(## Steps\n|1. [a-z]{0,3}\n| Expected: x\n|```\n|- \\[x\\] a\n){0,12}") {
        for text in [text.clone(), steps.clone(), format!("{steps}{text}")] {
            if let Ok(document) = Document::parse(&text) {
                let merged = merge(&plan(Vec::new()), &document.steps);
                prop_assert!(merged.steps.iter().all(|step| !step.description.is_empty() && !step.expected_outcome.is_empty()));
            }
        }
    }
}
