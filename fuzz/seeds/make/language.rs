//! Names and commands: every example of every dcmd, and what none of them shows.

use kcore_commands::DCMDS;

/// Expressions and pipelines that no example has.
const MORE: &[&str] = &[
    "",
    "0x1234567890abcdef + 0t12*(3 % 2) - ~0i101#2^1=X",
    "'abcd' , 3 / X ; .+8 / s\n+\n-,2/D",
    "<rip,10/ai",
    "<rsp,4/nap\n. ::whatis",
    "1>x; <x=J ; <_ = p",
    "main_of::dis -n 3 | ::whatis",
    "tiny`walk+4 ? i",
    "tiny.c`main_of = A",
    "::walk thread | ::stack | ::head -n 2",
    "$C;$r;$<$>$s$d;$q",
    "\"a\\tb\" ::echo [a b \\\"c] 'x'",
    "1,3::map . * 2 | ::grep . > 2 | =E",
    "[::stack]",
    "// a comment\n*%rsp=X;&main_of=X",
    "((((((((((1))))))))))",
    "1 == 1 || 2 != 1 && 3",
];

const NAMES: &str = "_ZN2ns5ClassIiE6methodEv\n_ZZ4mainENKUliE_clEi\n_Z3maxIiET_S0_S0_\n_ZlsRSoi\n\
    _ZNSt8functionIFviEEclEi\n_ZN3FoocvbEv\n_ZTS3Foo\n_ZN4core3ptr85drop_in_place$LT$std..rt..lang_\
    start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE\n_RNvCs1234_7mycrat\
    e3foo\n_RINvNtC3std3mem8align_ofjEC3foo\nfoo.isra.0.cold\nmemcpy@@GLIBC_2.14\nmain\n*St13runtim\
    e_error\nNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE\n_ZN1aD0Ev.part.3\
    \n_Z1fI1AEDTcldtfp_1gIiEEET_\n_Z1fIJiiEEDTfLplLi0Efp_EDpT_\n_Z1fIiEDTcvT__Li1ELi2EEEv\
    \n_ZZ1fiEd0_NKUlvE_clEv\n_ZNK1AcvPFvvEEv\n_ZTch0_v0_n24_N1A1fEv\n_Z1fPDOLb1EEFvvE\
    \n_Z1fIXtl1AtlA2_iLi1EEEEvv\n_ZN1nW3Foo3bazEv\n_Z1fI1AEDTsr3std1BIT_EE3fooEv\
    \n_Z1fM1AiM1BKFvvEM1CFviRE\n_ZNSaIcEC1ERKS_\n_Z1fDv4_fDF16_u3abc";

/// Target, name and text of each seed.
pub fn seeds() -> Vec<(&'static str, String, String)> {
    let examples = DCMDS.iter().map(|dcmd| dcmd.spec()).filter(|spec| spec.name != "quit");
    let examples: Vec<String> = examples
        .flat_map(|spec| spec.examples.iter().map(|example| example.line.to_owned()))
        .filter(|text| !text.contains('!'))
        .collect();
    let files = examples.chunks(8).map(|some| some.join("\n")).chain([MORE.join("\n")]);
    let commands = files.zip(0..).map(|(text, index)| ("command", index.to_string(), text));
    let bare = MORE.iter().zip(100..);
    let bare = bare.map(|(text, index)| ("command", index.to_string(), (*text).to_owned()));
    commands.chain(bare).chain([("demangle", "names".to_owned(), NAMES.to_owned())]).collect()
}
