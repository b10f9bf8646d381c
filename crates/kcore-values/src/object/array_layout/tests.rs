//! Arrays whose description lies in memory, as gfortran writes it, healthy and damaged.

use super::*;
use crate::{
    Content, Limits,
    made_process::{MadeProcess, int},
    object::array_section::{Subscript, chosen},
};

/// Where the description and the elements lie.
const AT: u64 = 0x1000;
const ELEMENTS: u64 = 0x2000;

/// `DW_OP_push_object_address`, `DW_OP_plus_uconst offset`, `DW_OP_deref`.
fn word_at(offset: u8) -> std::sync::Arc<[u8]> {
    [0x97, 0x23, offset, 0x06].into()
}

/// An array of one dimension: the address of the elements, the first and the last index, and the stride.
fn described() -> Type {
    let layout = ArrayLayout {
        first: vec![ArrayBound::Expression(word_at(8))],
        strides: vec![Some(ArrayBound::Expression(word_at(24)))],
        is_column_major: true,
        elements: Some(word_at(0)),
        presence: Some(ArrayPresence::Allocated(word_at(0))),
        rank: None,
    };
    array(vec![Dimension::UpperBound(word_at(16))], layout)
}

fn array(dimensions: Vec<Dimension>, layout: ArrayLayout) -> Type {
    let array = ArrayType {
        element: int().link(),
        dimensions,
        stride: None,
        is_vector: false,
        layout: Some(Box::new(layout)),
    };
    let kind = TypeKind::Array(array);
    Type::made(TypeNode { id: None, name: None, size: None, is_declaration: false, kind })
}

/// A process that holds the numbers 1, 2, 3 and so on, and the description of an array of some of them.
fn process(elements: u64, first: i64, last: i64, stride: i64) -> MadeProcess {
    let words = [elements.cast_signed(), first, last, stride];
    let description: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let numbers: Vec<u8> = (1..=8_i32).flat_map(i32::to_le_bytes).collect();
    MadeProcess::new(&[(AT, &description), (ELEMENTS, &numbers)])
}

fn element(process: &MadeProcess, index: i64) -> Result<i128, String> {
    let object = Object::at(described(), Addr::new(AT));
    let element = declared_element(process, &object, index).map_err(|why| why.to_string())?;
    Ok(element.number(process).unwrap().value().unwrap())
}

fn strides(extents: &[(i64, i64, Option<i64>)], is_column_major: bool) -> Option<Vec<i64>> {
    let extents = extents.iter().map(|(first, count, stride)| (*first, Some(*count), *stride));
    let placed = placed(extents.collect(), 4, is_column_major)?;
    Some(placed.iter().map(|extent| extent.stride).collect())
}

#[test]
fn the_first_index_changes_fastest_where_the_language_says_so() {
    let extents = [(1, 2, None), (1, 3, None), (0, 5, None)];
    assert_eq!(strides(&extents, true), Some(vec![4, 8, 24]));
    assert_eq!(strides(&extents, false), Some(vec![60, 20, 4]));
    assert_eq!(strides(&[(1, 2, Some(-8)), (1, 3, Some(100))], true), Some(vec![-8, 100]));
}

#[test]
fn bounds_that_overflow_are_none() {
    assert_eq!(strides(&[(1, i64::MAX, None), (1, 3, None)], true), None);
    assert_eq!(strides(&[(1, -1, None)], true), None);
}

#[test]
fn elements_are_found_by_declared_indices() {
    let plain = process(ELEMENTS, 3, 5, 4);
    assert_eq!((element(&plain, 3), element(&plain, 5)), (Ok(1), Ok(3)));
    assert_eq!(element(&plain, 6).unwrap_err(), "index 6 is outside of the bounds 3:5");
    assert_eq!(element(&plain, 2).unwrap_err(), "index 2 is outside of the bounds 3:5");
    let every_other = process(ELEMENTS, 1, 3, 8);
    assert_eq!((element(&every_other, 2), element(&every_other, 3)), (Ok(3), Ok(5)));
    let backwards = process(ELEMENTS + 20, 1, 6, -4);
    assert_eq!((element(&backwards, 1), element(&backwards, 6)), (Ok(6), Ok(1)));
}

#[test]
fn the_first_index_of_a_matrix_is_the_outermost() {
    let layout = ArrayLayout {
        first: vec![ArrayBound::Number(1), ArrayBound::Number(1)],
        strides: vec![None, None],
        is_column_major: true,
        elements: None,
        presence: None,
        rank: None,
    };
    let matrix = array(vec![Dimension::Count(2), Dimension::Count(3)], layout);
    let process = process(ELEMENTS, 1, 1, 4);
    let object = Object::at(matrix, Addr::new(ELEMENTS));
    let at = |row, column| {
        let row = declared_element(&process, &object, row).unwrap();
        let element = declared_element(&process, &row, column).unwrap();
        element.number(&process).unwrap().value()
    };
    assert_eq!((at(1, 1), at(2, 1), at(1, 2), at(2, 3)), (Some(1), Some(2), Some(3), Some(6)));
}

#[test]
fn an_array_without_elements_says_why() {
    let missing = process(0, 0, 0, 0);
    assert_eq!(missing.content(&described(), AT), Content::Other("not allocated".to_owned()));
    assert_eq!(element(&missing, 1).unwrap_err(), "not allocated");
    let empty = process(ELEMENTS, 1, 0, 4);
    let Content::Elements(found) = empty.content(&described(), AT) else { panic!() };
    assert_eq!((found.values.len(), found.total), (0, Some(0)));
}

#[test]
fn a_damaged_description_is_no_array() {
    for (first, last) in [(i64::MIN, i64::MAX), (0, i64::MAX), (i64::MAX, i64::MIN)] {
        let damaged = process(ELEMENTS, first, last, i64::MAX);
        let content = damaged.value(&described(), AT, &Limits::default()).content;
        assert!(
            !matches!(content, Content::Elements(ref all) if all.total != Some(0)),
            "{content:?}"
        );
    }
    let mut cut = process(ELEMENTS, 1, 3, 4);
    cut.lost = AT + 16..AT + 32;
    assert!(matches!(cut.content(&described(), AT), Content::Absent(_)));
    let far = process(u64::MAX - 2, 1, 3, 4);
    assert!(matches!(far.content(&described(), AT), Content::Absent(_)));
}

/// A matrix of two rows and three columns of the numbers from 1.
fn matrix(last: Dimension) -> Object {
    let one = || ArrayBound::Number(1);
    let layout = ArrayLayout {
        first: vec![one(), one()],
        strides: vec![None, None],
        is_column_major: true,
        elements: None,
        presence: None,
        rank: None,
    };
    Object::at(array(vec![Dimension::Count(2), last], layout), Addr::new(ELEMENTS))
}

/// The numbers of what subscripts choose, row by row.
fn section(object: &Object, subscripts: &[Subscript]) -> Result<Vec<i128>, String> {
    let process = process(ELEMENTS, 1, 1, 4);
    let found = chosen(&process, object, subscripts).map_err(|why| why.to_string())?;
    let mut numbers = Vec::new();
    let mut values = vec![found.value(&process, &Limits::default())];
    while let Some(value) = values.pop() {
        match value.content {
            Content::Elements(elements) => values.extend(elements.values.into_iter().rev()),
            Content::Integer(number) => numbers.push(number.value().unwrap()),
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(numbers)
}

const fn from_to(first: i64, last: i64, step: i64) -> Subscript {
    Subscript::Section { first: Some(first), last: Some(last), step }
}

const ALL: Subscript = Subscript::Section { first: None, last: None, step: 1 };

#[test]
fn subscripts_choose_elements_and_sections() {
    let whole = matrix(Dimension::Count(3));
    let chosen = |subscripts: &[Subscript]| section(&whole, subscripts);
    assert_eq!(chosen(&[Subscript::Index(2), Subscript::Index(3)]), Ok(vec![6]));
    assert_eq!(chosen(&[Subscript::Index(2), ALL]), Ok(vec![2, 4, 6]));
    assert_eq!(chosen(&[ALL, Subscript::Index(3)]), Ok(vec![5, 6]));
    assert_eq!(chosen(&[ALL, from_to(3, 1, -2)]), Ok(vec![5, 1, 6, 2]));
    let backwards = Subscript::Section { first: None, last: None, step: -1 };
    assert_eq!(chosen(&[backwards, Subscript::Index(1)]), Ok(vec![2, 1]));
    assert_eq!(chosen(&[ALL, from_to(3, 1, 1)]), Ok(vec![]));
}

#[test]
fn subscripts_outside_of_an_array_are_errors() {
    let whole = matrix(Dimension::Count(3));
    let wrong = |subscripts: &[Subscript]| section(&whole, subscripts).unwrap_err();
    assert_eq!(wrong(&[ALL]), "1 subscripts for an array of rank 2");
    assert_eq!(wrong(&[ALL, from_to(1, 4, 1)]), "index 4 is outside of the bounds 1:3");
    assert_eq!(wrong(&[ALL, from_to(1, 3, 0)]), "the bounds of the section are not known");
    wrong(&[ALL, from_to(i64::MIN, i64::MAX, 1)]);
    wrong(&[ALL, from_to(i64::MAX, i64::MIN, -1)]);
}

#[test]
fn the_last_dimension_may_have_no_end() {
    let open = matrix(Dimension::Open);
    assert_eq!(section(&open, &[Subscript::Index(2), Subscript::Index(3)]), Ok(vec![6]));
    assert_eq!(section(&open, &[ALL, from_to(2, 3, 1)]), Ok(vec![3, 5, 4, 6]));
    section(&open, &[ALL, ALL]).unwrap_err();
    let shown = open.value(&process(ELEMENTS, 1, 1, 4), &Limits::default()).content;
    assert!(matches!(shown, Content::Absent(_)), "{shown:?}");
}

#[test]
fn an_array_of_assumed_rank_has_the_dimensions_of_its_description() {
    // The number of the dimension is on the stack: `DW_OP_plus_uconst 1`.
    let first: std::sync::Arc<[u8]> = [0x23, 1].into();
    let layout = ArrayLayout {
        first: vec![ArrayBound::Number(1)],
        strides: vec![None],
        is_column_major: true,
        elements: Some(word_at(0)),
        presence: None,
        rank: Some(ArrayBound::Expression(word_at(8))),
    };
    let assumed = array(vec![Dimension::UpperBound(first)], layout);
    let rank = |rank: i64| {
        let process = process(ELEMENTS, rank, 0, 0);
        let object = Object::at(assumed.clone(), Addr::new(AT));
        chosen(&process, &object, &[Subscript::Index(1), Subscript::Index(2)])
            .map(|element| element.number(&process).unwrap().value())
            .map_err(|why| why.to_string())
    };
    assert_eq!(rank(2), Ok(Some(2)));
    assert_eq!(rank(1), Err("2 subscripts for an array of rank 1".to_owned()));
    assert_eq!(rank(16), Err("unreadable: its bounds are not known".to_owned()));
    assert_eq!(rank(-1), Err("unreadable: its bounds are not known".to_owned()));
}
