//! Commands that go on after the call that started them: what is shown of them, and that all of them end.

use super::*;

/// Waits until a job is over and returns what it printed.
fn output(project: &Project, job: &str) -> String {
    project.call(Tool::BashOutput, args!("job": job, "cursor": 0, "wait_ms": 20000)).text
}

#[test]
fn a_job_is_started_shown_and_ended() {
    let project = Project::new(&[]);
    let marker = marked("4721", 0);
    project.check(Tool::BashList, args!(), "There are no jobs.");
    let command = format!("echo made-progress; bash -c 'sleep {marker} & sleep {marker}'");
    project.check(
        Tool::Bash,
        args!("command": command, "background": true),
        "[runs as the job `job1`; bash_output shows what it prints, bash_kill ends it]",
    );
    let until = args!("job": "job1", "until": "made-progress\n");
    let shown = project.call(Tool::BashOutput, until);
    assert!(shown.text.starts_with("made-progress\n[job1: running for "), "{}", shown.text);
    assert!(shown.text.ends_with("; cursor 14]"), "{}", shown.text);
    let again = project.call(Tool::BashOutput, args!("job": "job1", "wait_ms": 0));
    assert!(again.text.ends_with("; no new output; cursor 14]"), "{}", again.text);
    let listed = project.call(Tool::BashList, args!()).text;
    assert!(listed.contains("job1: running for ") && listed.contains(&marker), "{listed}");
    project.check(Tool::BashKill, args!("job": "1"), "job1 was ended.");
    nothing_runs(&marker);
    let ended = "made-progress\n[job1: ended by signal 15; cursor 14]";
    project.check(Tool::BashOutput, args!("job": "job1", "cursor": 0), ended);
    project.check(
        Tool::BashKill,
        args!("job": "job1"),
        "job1 had ended already: ended by signal 15.",
    );
    let unknown = "There is no job job2. There are: job1.";
    project.fails(Tool::BashOutput, args!("job": "job2"), unknown);
    project.fails(Tool::BashKill, args!("job": "job2"), unknown);
}

/// Returns a project in which it takes long until a command is a job: no machine is that slow.
fn patient() -> Project {
    let mut spec = Spec::clone(&SPEC);
    spec.limits.tools.bash.background_ms = 60_000;
    Project::by(Arc::new(spec), &[])
}

#[test]
fn a_job_that_ends_at_once_is_no_job() {
    let project = patient();
    let found = project.call(Tool::Bash, args!("command": "no-such-x", "background": true));
    assert!(found.error && found.text.ends_with("not found\n[exit code 127]"), "{}", found.text);
    project.check(Tool::BashList, args!(), "There are no jobs.");
}

#[test]
fn what_takes_long_becomes_a_job_unless_it_has_a_time() {
    let mut spec = Spec::clone(&SPEC);
    spec.limits.tools.bash.timeout_ms = 100;
    spec.limits.tools.bash.jobs = 1;
    let project = Project::by(Arc::new(spec), &[]);
    let found = project.call(Tool::Bash, args!("command": "sleep 4725"));
    assert!(
        !found.error
            && found.text.starts_with("[still running after 100 ms, now as the job `job1`;")
    );
    let found = project.call(Tool::Bash, args!("command": "sleep 4725", "timeout_ms": 100));
    assert!(found.error && found.text.starts_with("[timed out after 100 ms"), "{}", found.text);
    let many = "[1 jobs run already, so it was ended; end one with bash_kill]";
    project.fails(Tool::Bash, args!("command": "sleep 4725"), many);
    project.fails(Tool::Bash, args!("command": "sleep 4725", "background": true), many);
    project.check(Tool::BashKill, args!("job": "job1"), "job1 was ended.");
    let found = project.call(Tool::Bash, args!("command": "sleep 4725"));
    assert!(found.text.contains("now as the job `job2`;"), "{}", found.text);
}

#[test]
fn a_supervisor_that_is_killed_is_told_and_leaves_nothing() {
    let project = Project::new(&[]);
    let marker = marked("4726", 0);
    let line = format!("sleep {marker} & kill -9 $PPID; sleep {marker}");
    let found = project.call(Tool::Bash, args!("command": line));
    let told = "[ended, nobody knows how: what watched over it was killed]";
    assert_eq!((found.text.as_str(), found.error), (told, true));
    nothing_runs(&marker);
}

#[test]
fn a_job_may_have_a_time_and_be_waited_for() {
    let project = Project::new(&[]);
    let started = |command: &str| {
        let args = args!("command": command, "background": true, "timeout_ms": 4000);
        assert!(!project.call(Tool::Bash, args).error);
    };
    started("echo one; sleep 4722; true");
    assert_eq!(output(&project, "job1"), "one\n[job1: ended by signal 15; cursor 4]");
    started("sleep 0.4; echo ready; sleep 4722");
    let shown = project.call(Tool::BashOutput, args!("job": "job2", "until": "ready")).text;
    assert!(shown.starts_with("ready\n"), "{shown}");
}

#[test]
fn long_output_can_be_read_whole() {
    let project = Project::new(&[]);
    let found = project.call(Tool::Bash, args!("command": "seq 1 20000; echo TAIL"));
    let file = found.text.split_once("all of the output is in ").unwrap().1;
    let file = file.split_once(']').unwrap().0;
    let expected: String = (1..=20000).map(|number| format!("{number}\n")).collect();
    assert_eq!(fs::read_to_string(file).unwrap(), expected + "TAIL\n");
    assert!(Path::new(file).starts_with(project.state.path()));
    let found = project.call(Tool::Bash, args!("command": "yes abcdefgh | head -c 20000000"));
    assert!(found.text.contains("the beginning of the output is in "), "{}", found.text.len());
    let held = project.state.path().to_owned();
    drop(project);
    assert!(!held.exists());
}

#[test]
fn where_a_command_ends_the_next_one_starts() {
    let project = Project::new(&[("sub/a.txt", "")]);
    let root = project.folder.path().canonicalize().unwrap();
    let found = project.call(Tool::Bash, args!("command": "cd sub && pwd"));
    assert_eq!(found.stands, Some(root.join("sub")));
    assert!(found.text.ends_with("\n[the next command starts in sub]"), "{}", found.text);
    let found = project.call(Tool::Bash, args!("command": "cd /usr; false"));
    assert_eq!((found.stands, found.error), (Some(root), true));
    let told = "[exit code 1]\n[the next command starts in .: /usr is outside the project]";
    assert_eq!(found.text, told);
    for command in ["(cd sub)", "cd sub; cd ..", "cd none 2>/dev/null || true", "echo $BASH_ENV"] {
        let found = project.call(Tool::Bash, args!("command": command));
        assert_eq!((found.stands, found.text.as_str()), (None, "[no output, exit code 0]"));
    }
}

#[test]
fn variables_are_stated() {
    let project = Project::new(&[]);
    let text = project.call(Tool::Bash, args!("command": "env")).text;
    let names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    // Nextest and cargo set these for tests; bash sets the rest.
    let own = ["_", "SHLVL", "OLDPWD"];
    let known = |name: &&str| {
        let limits = &SPEC.limits.tools.bash;
        own.contains(name)
            || *name == "PWD"
            || limits.env.contains_key(*name)
            || limits.env_kept.iter().any(|kept| name.contains(kept.trim_matches('*')))
    };
    assert_eq!(names.filter(|name| !known(name)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(text.contains("PATH=") && text.contains("GIT_TERMINAL_PROMPT=0"));
}

/// Returns how many descriptors this process has open.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn many_commands_leave_nothing() {
    alone(module_path!(), "many_commands_leave_nothing", || {
        let mut spec = Spec::clone(&SPEC);
        // What stays in the background is waited for so long each time.
        spec.limits.tools.bash.drain_ms = 40;
        let project = Project::by(Arc::new(spec), &[]);
        let pause = || {
            project.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(5)).await });
        };
        project.call(Tool::Bash, args!("command": "true"));
        let children = || tree::below(std::process::id() as i32);
        // What reads for the first command may still have its ends.
        (0..20).for_each(|_| pause());
        let before = descriptors();
        let marker = marked("4724", 0);
        for number in 0..200 {
            let command = match number % 6 {
                0 => format!("sleep {marker} & setsid sleep {marker} & true"),
                3 => "seq 1 9000; (sleep 0.01; echo late) & true".to_owned(),
                _ => "echo out; exit 3".to_owned(),
            };
            project.call(Tool::Bash, args!("command": command));
        }
        assert!(!children().is_empty(), "the jobs run until the session ends");
        project.runtime.block_on(project.tools.close());
        // The last of the tasks that wait for a supervisor may need a turn.
        let deadline = Instant::now() + Duration::from_secs(20);
        while (descriptors() > before || !children().is_empty()) && Instant::now() < deadline {
            pause();
        }
        assert!(descriptors() <= before, "{} instead of {before}", descriptors());
        assert_eq!(children(), Vec::<i32>::new());
        nothing_runs(&marker);
    });
}

/// Returns the most memory this process has had, in bytes.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn memory_does_not_grow_with_output() {
    alone(module_path!(), "memory_does_not_grow_with_output", || {
        let project = Project::new(&[]);
        project.call(Tool::Bash, args!("command": "seq 1 20000"));
        let before = memory();
        for line in ["yes abcdefghijklmnop | head -c 60000000", "head -c 9000000 /dev/zero"] {
            project.call(Tool::Bash, args!("command": line));
        }
        let more = memory().saturating_sub(before);
        assert!(more < 20_000_000, "{more} more");
    });
}
