//! What Rust has: see make/debug.rs.
#![no_std]
#![crate_type = "lib"]

pub trait Speak {
    fn speak(&self) -> u32;
}

pub struct Dog(u32);

impl Speak for Dog {
    fn speak(&self) -> u32 {
        self.0
    }
}

pub enum Shape {
    Empty,
    Circle(u8),
    Square { side: u32, name: &'static str },
}

pub struct Held<'a, T> {
    shape: Option<&'a Shape>,
    dog: &'a dyn Speak,
    pair: (T, u128),
    slice: &'a [T],
    letter: char,
}

#[unsafe(no_mangle)]
pub static DOG: Dog = Dog(5);
#[unsafe(no_mangle)]
pub static SHAPE: Shape = Shape::Square { side: 3, name: "three" };

#[unsafe(no_mangle)]
pub fn hold(held: &Held<'static, u16>) -> u32 {
    let add = |more: u32| more.wrapping_add(held.dog.speak());
    let other: Option<u32> = held.slice.first().map(|first| u32::from(*first));
    match held.shape {
        Some(Shape::Square { side, .. }) => add(*side),
        Some(Shape::Circle(size)) => add(u32::from(*size)),
        _ => other.unwrap_or(held.letter as u32),
    }
}
