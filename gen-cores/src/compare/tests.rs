//! Tests of the comparison on stacks made by hand.

use super::*;

fn call(name: &str, line: u32) -> Frame {
    let text = format!(r#"{{"function":"{name}","file":"main.c","line":{line},"inline":false}}"#);
    serde_json::from_str(&text).unwrap()
}

fn gap() -> Frame {
    Frame::Gap { gap: "libc".to_owned() }
}

fn seen(name: &str, line: u32) -> Seen {
    Seen {
        function: Some(name.to_owned()),
        file: Some("/src/main.c".to_owned()),
        line: Some(line),
        ..Seen::default()
    }
}

fn thread(frames: Vec<Frame>) -> Thread {
    Thread {
        tid: 7,
        role: "main".to_owned(),
        crashed: true,
        frames,
        awaits: Vec::new(),
        end: End::Outermost,
    }
}

#[test]
fn gaps_take_what_is_between() {
    let truth = thread(vec![gap(), call("leaf", 3), gap(), call("main", 9), gap()]);
    let stack = [seen("raise", 1), seen("leaf", 3), seen("main", 9), seen("_start", 0)];
    assert_eq!(compare(&truth, &stack), Ok(()));
}

#[test]
fn a_wrong_line_is_told() {
    let truth = thread(vec![call("leaf", 3), call("main", 9), gap()]);
    let error = compare(&truth, &[seen("leaf", 3), seen("main", 8)]).unwrap_err();
    assert_eq!(error, "thread 7 (main): frame 1: main at line Some(8), should be Some(9)");
}

#[test]
fn a_missing_frame_is_told() {
    let truth = thread(vec![call("leaf", 3), call("run", 5), call("main", 9), gap()]);
    let error = compare(&truth, &[seen("leaf", 3), seen("main", 9)]).unwrap_err();
    assert_eq!(error, "thread 7 (main): frame 1: main, should be run");
}

#[test]
fn an_invented_tail_is_an_error() {
    let mut truth = thread(vec![call("leaf", 3)]);
    truth.end = End::Honest;
    assert!(compare(&truth, &[seen("leaf", 3), seen("??", 0)]).is_err());
    assert_eq!(compare(&truth, &[seen("leaf", 3)]), Ok(()));
}

#[test]
fn repeats_are_counted_with_slack() {
    let mut frame = call("recurse", 3);
    if let Frame::Call(call) = &mut frame {
        (call.repeat, call.slack) = (100, 1);
    }
    let truth = thread(vec![frame, call("main", 9), gap()]);
    let stack = |count: usize| {
        let mut stack = vec![seen("recurse", 3); count];
        stack.push(seen("main", 9));
        stack
    };
    assert_eq!(compare(&truth, &stack(99)), Ok(()));
    assert!(compare(&truth, &stack(98)).is_err());
    assert!(compare(&truth, &stack(102)).is_err());
}

#[test]
fn a_tail_call_may_be_shown_or_not() {
    let mut middle = call("middle", 5);
    if let Frame::Call(call) = &mut middle {
        call.mark = Some(Mark::TailCall);
    }
    let truth = thread(vec![call("leaf", 3), middle, call("main", 9), gap()]);
    assert_eq!(compare(&truth, &[seen("leaf", 3), seen("main", 9)]), Ok(()));
    assert_eq!(compare(&truth, &[seen("leaf", 3), seen("middle", 5), seen("main", 9)]), Ok(()));
}
