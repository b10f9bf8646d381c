//! Walkers and dcmds in files, on types and memory that are made for them.

use kcore_mem::Addr;
use kcore_symbols::{Encoding, MemberPlace, Type};

use super::super::{DcmdAction, PrinterFile, WalkElement, holds_for_element, over_element};
use crate::{
    Object,
    made_process::{MadeProcess, base, member, structure},
};

const AT: u64 = 0x1000;

fn number() -> Type {
    base("unsigned long", 8, Encoding::Unsigned)
}

/// A structure whose members have 8 bytes each.
fn of_words(name: &str, members: &[(&str, Type)]) -> Type {
    let places = members.iter().zip((0_u64..).step_by(8));
    let members: Vec<_> =
        places.map(|((name, ty), offset)| member(name, ty, MemberPlace::Offset(offset))).collect();
    structure(name, 8 * members.len() as u64, members)
}

fn link() -> Type {
    of_words("link", &[("next", Type::void().pointer(8))])
}

/// A process with words at [`AT`], in which links are known.
fn process(words: &[u64]) -> MadeProcess {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut process = MadeProcess::new(&[(AT, &bytes)]);
    process.defined = vec![link()];
    process
}

fn parsed(keys: &str) -> PrinterFile {
    let head = "[[walker]]\nname = 'w'\nsummary = 's'\n";
    PrinterFile::parse("test.kcore", &format!("{head}{keys}")).expect("a file")
}

/// What a walk from [`AT`] gives, and why it ended early.
fn walked(process: &MadeProcess, ty: &Type, keys: &str) -> (Vec<u64>, Option<String>) {
    let file = parsed(keys);
    let start = Object::at(ty.clone(), Addr::new(AT));
    let walk = file.walkers[0].walk(process, &start).expect("a walk");
    let (mut found, mut why) = (Vec::new(), None);
    for element in walk {
        match element {
            Ok(WalkElement::Number(number)) => found.push(number),
            Ok(WalkElement::Object(object)) => found.push(object.address().unwrap().get()),
            Err(trouble) => why = Some(trouble.to_string()),
        }
    }
    (found, why)
}

#[test]
fn a_ring_of_links_ends_at_its_head() {
    let head = of_words("list", &[("count", number()), ("head", link())]);
    let keys = "type = 'list'\nfirst = '(link *)head.next'\nnext = '(link *)next'\n\
                end = 'this == &$start->head'\n";
    let ring = process(&[2, AT + 16, AT + 24, AT + 8]);
    assert_eq!(walked(&ring, &head, keys), (vec![AT + 16, AT + 24], None));
    let container = format!("{keys}element = '(link *)this - 1'\n");
    assert_eq!(walked(&ring, &head, &container), (vec![AT + 8, AT + 16], None));
    let empty = process(&[0, AT + 8]);
    assert_eq!(walked(&empty, &head, keys), (vec![], None));
}

#[test]
fn a_circle_and_a_bound_end_a_walk_behind_what_was_found() {
    let keys = "type = 'link'\nfirst = 'this'\nnext = '(link *)next'\n";
    let knot = process(&[AT + 8, AT + 16, AT + 8]);
    let (found, why) = walked(&knot, &link(), keys);
    assert_eq!(found, [AT, AT + 8, AT + 16]);
    assert_eq!(why.as_deref(), Some("6: (link *)next: the list runs in a circle"));
    let straight = process(&[AT + 8, AT + 16, 0]);
    assert_eq!(walked(&straight, &link(), keys).0.len(), 3);
    let (found, why) = walked(&straight, &link(), &format!("{keys}max = 2\n"));
    assert_eq!((found.len(), why.as_deref()), (2, Some("2: there are more than 2 elements")));
    let torn = process(&[AT + 8, 0x9000]);
    let (found, why) = walked(&torn, &link(), keys);
    assert_eq!(found, [AT, AT + 8], "what lies in no memory is no node");
    assert!(why.is_some_and(|why| why.contains("9000")));
}

#[test]
fn indices_leave_out_what_the_condition_refuses_and_null_pointers() {
    let table = of_words("table", &[("n", number()), ("slots", link().pointer(8).pointer(8))]);
    let words = process(&[4, AT + 16, AT, 0, AT + 8, AT + 16]);
    let keys = "type = 'table'\nsize = 'n'\nelement = 'slots[$i]'\n";
    assert_eq!(walked(&words, &table, keys).0, [AT, AT + 8, AT + 16]);
    let odd = format!("{keys}when = '$i % 2'\n");
    assert_eq!(walked(&words, &table, &odd).0, [AT + 16]);
    let numbers = "type = 'table'\nsize = 'n'\nelement = '$i * 10 + n'\n";
    assert_eq!(walked(&words, &table, numbers).0, [4, 14, 24, 34]);
}

#[test]
fn columns_and_conditions_see_the_element_and_the_arguments() {
    let text = "[[dcmd]]\nname = 'd'\nsummary = 's'\nwalk = 'w'\narguments = [{ name = 'n' }]\n\
                when = 'a > $1'\ncolumns = [{ name = 'sum', value = 'a + b' }]\n";
    let file = PrinterFile::parse("test.kcore", text).expect("a file");
    let DcmdAction::Table { when, columns, .. } = &file.dcmds[0].action else { panic!() };
    let process = process(&[7, 8]);
    let pair = Object::at(of_words("pair", &[("a", number()), ("b", number())]), Addr::new(AT));
    let sum = over_element(&process, &pair, &columns[0].value, &[0]).expect("a sum");
    assert_eq!(sum.number(&process).expect("a number").bits, 15);
    assert_eq!(holds_for_element(&process, &pair, when.as_ref(), &[6]), Ok(true));
    assert_eq!(holds_for_element(&process, &pair, when.as_ref(), &[7]), Ok(false));
}

#[test]
fn what_is_wrong_in_a_file_has_its_line_and_column() {
    let error = |text: &str| PrinterFile::parse("test.kcore", text).unwrap_err().to_string();
    let walker = |keys: &str| format!("[[walker]]\nname = 'w'\nsummary = 's'\n{keys}");
    let list = "start = 'a'\nfirst = 'b'\nnext = 'c'\n";
    for (text, at) in [
        (walker("first = 'a'\nnext = 'b'\n"), "line 2, column 8: a walker has a type, a start"),
        (walker("start = 'a'\nfirst = 'b'\n"), "line 2, column 8: a walker has first and next"),
        (walker(&format!("{list}max = 0\n")), "line 7, column 7: max is from 1 to"),
        (walker(&format!("{list}when = 'a ='\n")), "line 7, column 11: a =: an assignment"),
        (walker(&format!("{list}end = 'f(1)'\n")), "line 7, column 9: f(1): a call"),
        (walker(list).replace("'w'", "'2w'"), "line 2, column 8: a name begins with a letter"),
        (walker(list) + &walker(list), "line 8, column 9: there are two of the name w"),
    ] {
        assert!(error(&text).starts_with(at), "{text}{}", error(&text));
    }
    let dcmd = |keys: &str| format!("[[dcmd]]\nname = 'd'\nsummary = 's'\n{keys}");
    for (keys, at) in [
        (
            "run = '::x $2'\narguments = [{ name = 'a' }]\n",
            "line 4, column 12: there is no argument $2",
        ),
        ("run = '::x'\nwalk = 'w'\n", "line 2, column 8: a dcmd has run, or walk and columns"),
        ("run = '::x'\naddress = 'no'\n", "line 5, column 11: address is none"),
    ] {
        assert!(error(&dcmd(keys)).starts_with(at), "{keys}{}", error(&dcmd(keys)));
    }
}
