//! The flame graph of a profile in a browser.

use std::{path::Path, process::Command, time::Duration};

use crate::{
    program::{Running, built, with_agent},
    stock::found,
};

/// What a headless Chromium makes of a page, after its scripts ran.
fn document(chromium: &Path, page: &Path) -> String {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(chromium);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
    command.args(["--no-first-run", "--disable-background-networking"]);
    command.args(["--disable-component-update", "--disable-sync", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = command.arg(format!("file://{}", page.display())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A page that shows a picture, and says of each text that it draws where that stands.
const PAGE: &str = r#"<!DOCTYPE html><body>SVG<pre id="seen"></pre><script>
for (const text of document.querySelectorAll('svg text')) {
  const box = text.getBoundingClientRect();
  if (text.textContent.trim() && box.width > 0 && box.height > 0)
    document.getElementById('seen').textContent += text.textContent.trim() + '\n';
}
</script></body>"#;

#[test]
fn a_browser_draws_the_names_of_functions() {
    let Some(chromium) = found("chromium") else { return };
    let program = built("shares.c", "shares-browser", &["-O2", "-fomit-frame-pointer"]);
    let folder = tempfile::tempdir().unwrap();
    let mut process = Running::start(with_agent(&program).env("TMPDIR", folder.path()));
    process.signal(12);
    std::thread::sleep(Duration::from_secs(3));
    process.signal(12);
    process.line_with("profile of ");
    let files = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let svg = files.into_iter().find(|it| it.extension().is_some_and(|it| it == "svg")).unwrap();
    // The file itself, as somebody would open it.
    let opened = document(&chromium, &svg);
    assert!(opened.contains("<svg") && opened.contains("spend_seventy"), "{opened}");
    let svg = std::fs::read_to_string(svg).unwrap();
    let picture = svg.find("<svg").map(|at| &svg[at..]).unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, PAGE.replace("SVG", picture)).unwrap();
    let shown = document(&chromium, &page);
    let seen = shown.split("id=\"seen\">").nth(1).unwrap().split("</pre>").next().unwrap();
    for name in ["main", "spend_seventy", "spend_twenty"] {
        assert!(seen.lines().any(|line| line.starts_with(name)), "{name} in {seen}");
    }
}
