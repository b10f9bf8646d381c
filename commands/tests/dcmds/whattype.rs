//! Which type an address could be of.

use crate::harness::{error, open};

#[test]
fn a_variable_has_its_type_and_members() {
    let nodes = open("nodes", "O0-musl-static");
    let said = nodes.text("second::whattype; third+20::whattype; hashtab+8::whattype");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].ends_with("+0, struct node, member .n_id, by variable second"), "{said}");
    assert!(
        lines[1].ends_with("+20, struct node, member .n_tag[0x0], by variable third"),
        "{said}"
    );
    assert!(lines[2].contains("+8, struct bucket [128], member [0x0].b_count, by "), "{said}");
}

#[test]
fn memory_has_the_type_of_what_points_to_it() {
    let values = open("values-cpp", "O0-pie");
    let said = values.text("*v_many::whattype");
    assert!(said.ends_with("+0, int, by element of v_many\n"), "{said}");
    let guess = values.one("*q_point::whattype");
    assert_eq!((&guess["type_name"], &guess["size"]), (&"demo::Point".into(), &8.into()));
    assert_eq!((&guess["how"], &guess["member"]), (&"pointer".into(), &".x".into()));
    // A pointer to a base class leads to the object that it is.
    let guess = values.one("*q_animal::whattype");
    assert_eq!((&guess["type_name"], &guess["how"]), (&"demo::Puppy".into(), &"pointer".into()));
}

#[test]
fn an_element_is_known_by_its_container_and_what_lies_behind_the_last_is_none() {
    let values = open("values-cpp", "O0-pie");
    for (element, ty, by) in [
        ("v_points[1]", "demo::Point", "v_points"),
        ("d_one[0]", "int", "d_one"),
        ("l_one[0]", "int", "l_one"),
        ("u_ages[\"Bob\"]", "int", "u_ages"),
        ("m_ages[\"Ada\"]", "int", "m_ages"),
    ] {
        let guess = values.one(&format!("{{&{element}}}::whattype"));
        assert_eq!(
            (&guess["type_name"], &guess["how"]),
            (&ty.into(), &"element".into()),
            "{element}"
        );
        assert_eq!(guess["by"], by, "{element}");
    }
    let behind = values.text("{&v_points[1]}::whattype -v");
    assert!(!behind.contains("_M_finish"), "{behind}");
}

#[test]
fn every_answer_names_its_evidence() {
    let values = open("values-cpp", "O0-pie");
    let said = values.text("*\"demo::g_top\"::whattype -v");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].contains(", demo::Diamond, "), "{said}");
    assert!(lines[0].ends_with(", by variable demo::g_diamond"), "{said}");
    assert_eq!(values.text("*\"demo::g_top\"::whattype").lines().count(), 1);
}

#[test]
fn what_nothing_leads_to_is_unknown() {
    assert_eq!(error("10::whattype"), "kcore: 0x10 has no known type");
}
