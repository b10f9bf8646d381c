//! Arrays whose description lies in memory, as gfortran writes it, healthy and damaged.

use super::*;
use crate::{
    Content, Limits,
    made_process::{MadeProcess, int},
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
    let placed = placed(extents.to_vec(), 4, is_column_major)?;
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
