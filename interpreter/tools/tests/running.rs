//! What `bash` runs, says and ends.

use super::*;

#[test]
fn output_and_code() {
    let project = Project::new(&[("sub/a.txt", "")]);
    project.check(Tool::Bash, args!("command": "echo out; echo err >&2"), "out\nerr");
    project.fails(Tool::Bash, args!("command": "echo out; exit 7"), "out\n[exit code 7]");
    project.check(Tool::Bash, args!("command": "true"), "[no output, exit code 0]");
    project.check(Tool::Bash, args!("command": "ls", "workdir": "sub"), "a.txt");
    project.check(Tool::Bash, args!("command": "cat; echo after"), "after");
    project.check(
        Tool::Bash,
        args!("command": "echo $GIT_TERMINAL_PROMPT $PAGER $GIT_EDITOR"),
        "0 cat false",
    );
    project.fails(Tool::Bash, args!("command": "kill -9 $$"), "[ended by signal 9]");
    project.fails(
        Tool::Bash,
        args!("command": "true", "workdir": "none"),
        "There is no directory none to run in.",
    );
    project.check(
        Tool::Bash,
        args!("command": "printf '\\033[1mb\\033[0m\\n 1%%\\r100%%\\n'"),
        "b\n100%",
    );
    assert!(
        project
            .call(Tool::Bash, args!("command": "no-such-program-x"))
            .text
            .ends_with("not found\n[exit code 127]")
    );
    assert!(
        project.call(Tool::Bash, args!("command": "echo hi < /dev/tty")).text.contains("/dev/tty")
    );
}

#[test]
fn long_output_keeps_both_ends() {
    let project = Project::new(&[]);
    let found = project.call(Tool::Bash, args!("command": "seq 1 200000; echo TAIL"));
    assert!(found.text.starts_with("1\n2\n") && found.text.ends_with("200000\nTAIL"));
    assert!(found.text.len() < 28_600 && found.text.contains("bytes left out here; all of"));
}

#[test]
fn what_is_left_behind_does_not_hold_the_call() {
    let project = Project::new(&[]);
    for (number, command) in [
        "sleep N & echo up",
        "sleep N </dev/null >/dev/null & echo up",
        "setsid sleep N & echo up",
        "(while :; do echo up; sleep 0.1; done) & echo up; true N",
    ]
    .into_iter()
    .enumerate()
    {
        let marker = marked("4711", number);
        let command = command.replace('N', &marker);
        let found = project.call(Tool::Bash, args!("command": command));
        assert!(!found.error && found.text.starts_with("up"), "{}", found.text);
        let left = format!("[exit code 0; still running as the job `job{}`: ", number + 1);
        assert!(found.text.contains(&left) && found.text.contains(&marker), "{}", found.text);
        assert!(runs(&marker));
    }
    drop(project);
    (0..4).for_each(|number| nothing_runs(&marked("4711", number)));
}

#[test]
fn time_over_ends_the_whole_group() {
    let project = Project::new(&[]);
    let marker = marked("4712", 0);
    let line = format!("echo made; bash -c 'sleep {marker} & sleep {marker}'");
    let found = project.call(Tool::Bash, args!("command": line, "timeout_ms": 2000));
    assert!(
        found.error && found.text.starts_with("made\n[timed out after 2000 ms"),
        "{}",
        found.text
    );
    let line = format!("trap '' TERM; sleep {marker} & wait; sleep {marker}");
    project.call(Tool::Bash, args!("command": line, "timeout_ms": 300));
    nothing_runs(&marker);
}

#[test]
fn a_stop_ends_the_whole_group() {
    let project = Project::new(&[]);
    let stop = CancellationToken::new();
    let later = stop.clone();
    let (begun, marker) = (project.path("begun"), marked("4713", 0));
    std::thread::spawn(move || {
        while !begun.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        later.cancel();
    });
    let line = format!("echo made; touch begun; sleep {marker}");
    let found = project.call_until(Tool::Bash, args!("command": line), &stop);
    assert_eq!((found.text.as_str(), found.error), ("made\n[stopped by the user]", true));
    nothing_runs(&marker);
}

#[test]
fn a_dropped_call_takes_its_group_along() {
    let project = Project::new(&[]);
    let stop = CancellationToken::new();
    let (begun, marker) = (project.path("begun"), marked("4714", 0));
    let args = args!("command": format!("touch begun; sleep {marker}; true"));
    let grant = project.grant(Tool::Bash, &args, &stop);
    project.runtime.block_on(async {
        let begins = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = project.tools.run(Tool::Bash, &grant, args) => panic!("it does not end"),
            () = begins => {}
        }
        // What watches over the command hears of it in a turn of its own.
        tokio::time::sleep(Duration::from_millis(100)).await;
    });
    nothing_runs(&marker);
}

#[test]
fn a_group_that_interrupts_itself_does_not_reach_here() {
    let project = Project::new(&[]);
    project.call(Tool::Bash, args!("command": "kill -INT 0; echo tail"));
    project.check(Tool::Bash, args!("command": "echo alive"), "alive");
}
