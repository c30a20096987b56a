//! What can be seen of a stopped program.

use stepwell_debug::adapters::AdapterKind;
use stepwell_debug::session::{Access, Paging, Step};
use stepwell_debug::{Outcome, StopReason};

use crate::lab::{Lab, Language};

pub async fn everything(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("loop")).await.unwrap();
    lab.debugger.set_breakpoint(lab.at("after")).await.unwrap();
    let session = lab.start("");
    let (session, report) = lab.report(&session).await;
    assert_eq!((report.reason.as_str(), report.line), ("breakpoint", Some(lab.line("loop"))), "{report:?}");
    assert!(report.call_stack[0].function_name.contains("run"), "{report:?}");
    assert_eq!(report.call_stack[0].file_path, lab.source.to_string_lossy());
    let names: Vec<&str> = report
        .top_frame_variables
        .iter()
        .flat_map(|frame| &frame.variables)
        .map(|row| row.name.as_str())
        .collect();
    assert!(names.contains(&"total"), "{report:?}");
    let context = report.more.source_context.unwrap();
    assert!(context.contains(&format!("→{}", lab.line("loop"))), "{context}");

    // Into the call the third time, and out of it.
    for _ in 0..2 {
        session.resume(None).await.unwrap();
        lab.stop(&session).await;
    }
    session.step(None, Step::Into).await.unwrap();
    let (session, report) = lab.report(&session).await;
    assert!(report.call_stack[0].function_name.contains("add"), "{report:?}");
    assert_eq!(lab.value(&session, "total + number").await, "3");
    // Delve stops at the function's head first.
    let mut changed = Vec::new();
    for _ in 0..2 {
        if !changed.contains(&"result".to_owned()) {
            session.step(None, Step::Over).await.unwrap();
            changed = lab.report(&session).await.1.more.changed;
        }
    }
    assert!(changed.contains(&"result".to_owned()), "{changed:?}");
    assert_eq!(lab.value(&session, "result").await, "3", "a name that is also a module of Rust");
    session.step(None, Step::Out).await.unwrap();
    let (session, report) = lab.report(&session).await;
    assert!(report.call_stack[0].function_name.contains("run"), "{report:?}");

    // A changed variable changes what happens.
    session.resume(None).await.unwrap();
    let (session, stop) = lab.stop(&session).await;
    let thread = stop.thread.unwrap();
    let frame = session.stack(thread, 0, 1).await.unwrap().stack_frames[0].id;
    let (_, rows) = session.locals(frame, 100).await.unwrap().unwrap();
    assert!(rows.iter().any(|row| row.name == "i" && row.value == "3"), "{rows:?}");
    let set = session.set_local(frame, "total", "100").await;
    assert!(set.is_ok(), "{set:?}");
    assert_eq!(lab.value(&session, "total").await, "100");

    // A long list is paged.
    let numbers = rows.iter().find(|row| row.name == "numbers").unwrap();
    let page = Paging { start: Some(20), count: Some(5), total: None, indexed: true };
    let numbers = session.variables(numbers.variables_reference, None, page).await.unwrap();
    assert_eq!(numbers.len(), 5, "{numbers:?}");

    // Old numbers are refused with words.
    let frame_id =
        session.report(&stop, stepwell_debug::stop_report::Detail::COMPACT).await.unwrap().call_stack[0]
            .frame_id;
    for breakpoint in lab.debugger.breakpoints().lines() {
        if breakpoint.line == lab.line("loop") {
            lab.debugger.remove_breakpoint(breakpoint.id).await.unwrap();
        }
    }
    session.resume(None).await.unwrap();
    let (session, report) = lab.report(&session).await;
    assert_eq!(report.line, Some(lab.line("after")), "{report:?}");
    let old = lab.debugger.frame(frame_id).unwrap_err();
    assert!(old.to_string().contains("a stop that is over"), "{old}");
    assert_eq!(lab.value(&session, "total").await, "112");
    lab.debugger.end(&session).await;
}

pub async fn failure(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    let session = lab.start("fail");
    let (_, report) = lab.report(&session).await;
    let own = report.more.own_frame.as_ref().map_or(&report.call_stack[0], |own| &own.frame);
    assert_eq!(own.line_number, lab.line("fail"), "{report:?}");
    assert!(own.function_name.contains("fail"), "{report:?}");
    lab.debugger.end(&session).await;
}

/// Who can watch a place, show instructions and read bytes; the others say that they cannot.
pub async fn memory(kind: AdapterKind, language: Language) {
    let Some(lab) = Lab::open(kind, language) else { return };
    lab.debugger.set_breakpoint(lab.at("loop")).await.unwrap();
    let session = lab.start("");
    let (session, _) = lab.stop(&session).await;
    let frame = session.top_frame().await.unwrap();
    let watches = matches!(kind, AdapterKind::LldbDap | AdapterKind::CodeLldb);
    let set = session.set_data_breakpoint(frame.id, "total", Access::Write).await;
    assert_eq!(set.is_ok(), watches, "{set:?}");

    let reads = matches!(kind, AdapterKind::CodeLldb | AdapterKind::Gdb);
    let shows = reads || matches!(kind, AdapterKind::LldbDap | AdapterKind::Delve);
    if shows {
        let address = frame.instruction_pointer_reference.clone().unwrap();
        let listing = session.disassemble(&address, 0, 5).await.unwrap();
        assert_eq!(listing.len(), 5, "{listing:?}");
        assert!(listing.iter().all(|one| !one.instruction.is_empty()), "{listing:?}");
        if reads {
            let memory = session.read_memory(&address, 0, 16).await.unwrap();
            assert_eq!((memory.bytes.len(), memory.unreadable), (16, 0), "{memory:?}");
        }
    } else {
        let error = session.disassemble("0x1", 0, 5).await.unwrap_err().to_string();
        assert!(error.contains("cannot show instructions"), "{error}");
    }
    if !reads && kind != AdapterKind::JsDebug {
        let error = session.read_memory("0x1", 0, 16).await.unwrap_err().to_string();
        assert!(error.contains("cannot read memory"), "{error}");
    }

    if watches {
        assert!(session.data_breakpoints().iter().all(|place| place.verified));
        lab.debugger.clear_breakpoints().await;
        // The first pass adds nothing; the second writes another number.
        let mut totals = Vec::new();
        for _ in 0..2 {
            session.resume(None).await.unwrap();
            let (stopped, stop) = lab.stop(&session).await;
            assert_eq!(stop.reason, StopReason::DataBreakpoint);
            totals.push(lab.value(&stopped, "total").await);
        }
        assert!(totals.contains(&"1".to_owned()) || totals.contains(&"0".to_owned()), "{totals:?}");
        assert_eq!(session.clear_data_breakpoints().await.unwrap(), 1);
        session.resume(None).await.unwrap();
        let outcome = lab.outcome(&session).await;
        assert!(matches!(outcome, Outcome::Completed(_)), "{outcome:?}");
    } else {
        let error = set.unwrap_err().to_string();
        assert!(error.contains("cannot stop when a variable is used"), "{error}");
    }
}
