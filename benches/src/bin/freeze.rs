//! How long a process stands still for a look at it, as the process itself sees it: kcore, whole and
//! rolling, beside gdb, eu-stack, gcore and tbstack (from `TBSTACK` or the path). With two numbers, of a
//! process of so many threads and so many MiB of heap alone; with words behind them, by these programs alone.
//! With `python` before the numbers, of a process of CPython (`PYTHON`, or that of the path), beside py-spy and
//! pystack.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

/// Looks at each process by each program.
const LOOKS: usize = 20;
/// Looks by a program that takes longer than the patience for all of them; the table says by how many.
const FEWEST: usize = 3;
const PATIENCE: Duration = Duration::from_secs(60);
/// Threads besides the first one, and MiB of heap.
type Size = (usize, usize);
const PROCESSES: [Size; 4] = [(1, 0), (100, 0), (1000, 0), (100, 4096)];

/// A process that watches the clock.
struct Watched {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Watched {
    fn start(program: &[PathBuf], (threads, heap): Size) -> Result<Self> {
        let (program, before) = program.split_first().context("a program")?;
        let mut child = Command::new(program)
            .args(before)
            .args([threads.to_string(), heap.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("its input")?;
        let output = BufReader::new(child.stdout.take().context("its output")?);
        let mut watched = Self { child, input, output };
        watched.line()?;
        thread::sleep(Duration::from_millis(200));
        Ok(watched)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    /// Milliseconds for which it stood still at most while the command ran.
    fn gap(&mut self, command: &mut Command) -> Result<f64> {
        self.ask("r")?;
        let output = command.stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(self.ask("p")?.parse::<f64>()? / 1e6)
    }

    fn ask(&mut self, word: &str) -> Result<String> {
        writeln!(self.input, "{word}")?;
        self.line()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that looks at a process.
#[derive(Clone, Copy)]
struct Peer {
    name: &'static str,
    command: fn(&str) -> Command,
}

const PEERS: [Peer; 7] = [
    Peer { name: "nobody", command: |_| Command::new("true") },
    Peer {
        name: "kcore",
        command: |pid| line(&beside("kcore"), &["--no-rc", "-c", "::stacks", "-p", pid]),
    },
    Peer {
        name: "kcore --rolling",
        command: |pid| {
            line(&beside("kcore"), &["--no-rc", "--rolling", "-c", "::stacks", "-p", pid])
        },
    },
    Peer { name: "tbstack", command: |pid| line(&tbstack(), &[pid]) },
    Peer { name: "eu-stack -p", command: |pid| line("eu-stack", &["-p", pid]) },
    Peer {
        name: "gdb -p",
        command: |pid| line("gdb", &["-batch", "-nx", "-p", pid, "-ex", "thread apply all bt"]),
    },
    Peer {
        name: "gcore",
        command: |pid| {
            line("gcore", &["-o", &env::temp_dir().join("frozen").to_string_lossy(), pid])
        },
    },
];

/// Those that know Python.
const PYTHON_PEERS: [Peer; 5] = [
    Peer { name: "nobody", command: |_| Command::new("true") },
    Peer {
        name: "kcore ::pystack",
        command: |pid| {
            line(&beside("kcore"), &["--no-rc", "-c", "::walk thread | ::pystack", "-p", pid])
        },
    },
    Peer {
        name: "kcore ::stack",
        command: |pid| {
            line(&beside("kcore"), &["--no-rc", "-c", "::walk thread | ::stack", "-p", pid])
        },
    },
    Peer {
        name: "py-spy dump",
        command: |pid| line(&installed("py-spy"), &["dump", "--pid", pid]),
    },
    Peer { name: "pystack remote", command: |pid| line(&installed("pystack"), &["remote", pid]) },
];

fn line(program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

fn tbstack() -> String {
    env::var("TBSTACK").unwrap_or_else(|_| "tbstack".to_owned())
}

/// A program of the virtual environment in `target/pystack`, or that of the path.
fn installed(name: &str) -> String {
    let own = gen_cores::cores_dir().with_file_name("pystack").join("bin").join(name);
    if own.is_file() { own.to_string_lossy().into_owned() } else { name.to_owned() }
}

fn beside(name: &str) -> String {
    let own = env::current_exe().map(|own| own.with_file_name(name));
    own.map_or_else(|_| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The workload in Python, and what runs it.
fn python_workload() -> Vec<PathBuf> {
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = gen_cores::workspace_dir().join("benches/workloads/frozen/main.py");
    vec![python.into(), script]
}

/// The compiled workload.
fn workload() -> Result<PathBuf> {
    let folder = gen_cores::cores_dir().with_file_name("bench");
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("frozen");
    let source = gen_cores::workspace_dir().join("benches/workloads/frozen/main.c");
    let built =
        Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status()?;
    ensure!(built.success(), "the workload was not compiled");
    Ok(program)
}

/// The median and the longest, in milliseconds, and of how many looks; or why there is none.
fn measure(program: &[PathBuf], process: Size, peer: &Peer) -> Result<(f64, f64, usize)> {
    let mut watched = Watched::start(program, process)?;
    let pid = watched.child.id().to_string();
    let mut gaps = Vec::new();
    let start = Instant::now();
    for look in 0..LOOKS {
        if look >= FEWEST && start.elapsed() > PATIENCE {
            break;
        }
        gaps.push(watched.gap(&mut (peer.command)(&pid))?);
    }
    gaps.sort_by(f64::total_cmp);
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or_default();
    Ok((median, gaps.last().copied().unwrap_or_default(), gaps.len()))
}

/// What the command line wants: a workload, processes of it, and programs that look at them.
struct Invocation {
    program: Vec<PathBuf>,
    processes: Vec<Size>,
    peers: Vec<Peer>,
}

fn wanted(words: &[String]) -> Result<Invocation> {
    let (program, peers, words) = match words {
        [first, rest @ ..] if first == "python" => (python_workload(), PYTHON_PEERS.to_vec(), rest),
        _ => (vec![workload()?], PEERS.to_vec(), words),
    };
    let [threads, heap, names @ ..] = words else {
        return Ok(Invocation { program, processes: PROCESSES.to_vec(), peers });
    };
    let is_wanted = |peer: &Peer| names.is_empty() || names.iter().any(|name| name == peer.name);
    let peers = peers.into_iter().filter(is_wanted).collect();
    Ok(Invocation { program, processes: vec![(threads.parse()?, heap.parse()?)], peers })
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let wanted = wanted(&words)?;
    println!(
        "| threads | heap MiB | by | median ms | longest ms | looks |\n|--:|--:|---|--:|--:|--:|"
    );
    for process in wanted.processes {
        for peer in &wanted.peers {
            let (threads, heap) = process;
            match measure(&wanted.program, process, peer) {
                Ok((median, longest, looks)) => println!(
                    "| {threads} | {heap} | {} | {median:.2} | {longest:.2} | {looks} |",
                    peer.name
                ),
                Err(error) => println!("| {threads} | {heap} | {} | {error:#} | | |", peer.name),
            }
        }
    }
    Ok(())
}
