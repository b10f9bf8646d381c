use kcore_live::*; use std::time::*;
fn main(){ let a:Vec<String>=std::env::args().collect(); let rolling=a.get(3).is_some();
 let p=Process::open(Pid::new(a[1].parse().unwrap())).unwrap(); 
 for _ in 0..a[2].parse::<usize>().unwrap(){ let t=Instant::now(); let m=LiveMemory::open(&p).unwrap(); let (text,maps)=p.maps().unwrap(); let h=image::Headers::read(&m,&maps);
 let plan=Plan{process:&p,memory:&m,maps:&maps,threads:None,memory_too:&[],stacks:StackLimit::default(),floating_up_to:32,timeout:Duration::from_secs(1),rolling};
 let s=capture(&plan).unwrap(); let n:usize=s.pieces().map(|p|p.bytes.len()).sum();
 let c=image::core_of(&p,(&text,&maps),&h,Some(&s)).unwrap();
 println!("{} threads stopped {:?} median {:?} bytes {} core {} total {:?}",s.threads.len(),s.stopped,s.median_stop(),n,c.len(),t.elapsed());
 if a.get(4).is_some(){std::fs::write(&a[4],c).unwrap();}
 std::thread::sleep(Duration::from_millis(20)); } }
