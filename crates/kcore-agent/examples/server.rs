//! A server that shows its own stacks: `GET /stacks`, or `kill -35 PID`.
//!
//! ```sh
//! cargo run -p kcore-agent --example server -- 8080 & curl localhost:8080/stacks
//! ```

use std::{
    env,
    error::Error,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use kcore_agent::Settings;

fn serve(mut client: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let read = client.read(&mut request)?;
    let body = match request[..read].starts_with(b"GET /stacks ") {
        true => kcore_agent::stacks().map_or_else(|error| format!("{error}\n"), |it| it.text),
        false => "hello\n".to_owned(),
    };
    write!(
        client,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    kcore_agent::install(Settings::from_environment()?)?;
    let port = env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut out = std::io::stdout();
    writeln!(out, "ready {}", listener.local_addr()?.port())?;
    for client in listener.incoming() {
        let client = client?;
        thread::spawn(move || serve(client));
    }
    Ok(())
}
