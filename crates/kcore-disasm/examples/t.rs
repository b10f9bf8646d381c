//! t
use kcore_disasm::*; use kcore_mem::*;
fn main(){ let d=Disassembler::new(Target::X86_64).unwrap(); let b=std::fs::read("/tmp/kd/t.bin").unwrap();
for i in d.decode(Addr::new(0),&b,1000){ let a=d.memory_accesses(i.addr,&i.bytes,&|n| match n {"rbx"=>Some(0x2000),"rsp"=>Some(0x8000),"rcx"=>Some(4),"rsi"=>Some(0x5000),"rdi"=>Some(0x6000),"rax"=>Some(0x1000),"rbp"=>Some(0x7000),_=>None});
 let s:Vec<_>=a.iter().filter(|a|a.kind!=AccessKind::Execute).map(|a|format!("{:x}+{:x} {:?}",a.addr,a.size,a.kind)).collect(); println!("{:40} {}",format!("{} {}",i.mnemonic,i.operands),s.join("; ")); } }
