// SPDX-License-Identifier: MIT
//
// program.rs - the sites of Rust, in a program that is Rust outside and program.c inside. Where the
// allocator has a prefix, it is the global allocator; else Rust's calls go to the malloc there is.
use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, Layout};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::os::raw::c_int;
use std::time::Duration;

const ALIGNMENT: usize = 64;

#[cfg(prefixed)]
mod prefixed {
    use std::alloc::{GlobalAlloc, Layout};

    extern "C" {
        #[link_name = concat!(env!("PREFIX"), "malloc")]
        fn malloc(size: usize) -> *mut u8;
        #[link_name = concat!(env!("PREFIX"), "calloc")]
        fn calloc(count: usize, size: usize) -> *mut u8;
        #[link_name = concat!(env!("PREFIX"), "realloc")]
        fn realloc(block: *mut u8, size: usize) -> *mut u8;
        #[link_name = concat!(env!("PREFIX"), "memalign")]
        fn memalign(alignment: usize, size: usize) -> *mut u8;
        #[link_name = concat!(env!("PREFIX"), "free")]
        fn free(block: *mut u8);
    }

    const NATURAL: usize = 16;

    struct Prefixed;

    unsafe impl GlobalAlloc for Prefixed {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if layout.align() <= NATURAL {
                malloc(layout.size())
            } else {
                memalign(layout.align(), layout.size())
            }
        }
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if layout.align() <= NATURAL {
                return calloc(1, layout.size());
            }
            let block = self.alloc(layout);
            block.write_bytes(0, layout.size());
            block
        }
        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if layout.align() <= NATURAL {
                return realloc(block, size);
            }
            let moved = memalign(layout.align(), size);
            moved.copy_from(block, layout.size().min(size));
            free(block);
            moved
        }
        unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
            free(block)
        }
    }

    #[global_allocator]
    static ALLOCATOR: Prefixed = Prefixed;
}

/// struct site of program.h.
#[repr(C)]
pub struct Site {
    name: *const u8,
    allocate: unsafe extern "C" fn(usize) -> *mut u8,
    release: unsafe extern "C" fn(*mut u8, usize),
    unit: usize,
    moves: bool,
}
unsafe impl Sync for Site {}

fn layout(size: usize, alignment: usize) -> Layout {
    Layout::from_size_align(size, alignment).unwrap()
}

fn forget(block: Vec<u8>) -> *mut u8 {
    ManuallyDrop::new(block).as_mut_ptr()
}

unsafe extern "C" fn release_vec(block: *mut u8, size: usize) {
    drop(Vec::from_raw_parts(block, 0, size))
}

unsafe extern "C" fn release_aligned(block: *mut u8, size: usize) {
    dealloc(block, layout(size, ALIGNMENT))
}

macro_rules! sites {
    ($count:literal: $($name:ident, $release:ident, |$size:ident| $get:expr;)*) => {
        $(
            #[no_mangle]
            #[inline(never)]
            unsafe extern "C" fn $name($size: usize) -> *mut u8 {
                std::hint::black_box($get)
            }
        )*
        #[no_mangle]
        #[allow(non_upper_case_globals)]
        pub static more_site_count: u32 = $count;
        #[no_mangle]
        #[allow(non_upper_case_globals)]
        pub static more_sites: [Site; $count] = [$(Site {
            name: concat!(stringify!($name), "\0").as_ptr(),
            allocate: $name,
            release: $release,
            unit: 1,
            moves: false,
        },)*];
    };
}

sites! { 8:
    alloc_vec, release_vec, |size| forget(Vec::with_capacity(size));
    alloc_vec_zeroed, release_vec, |size| forget(vec![0; size]);
    alloc_vec_grown, release_vec, |size| {
        let mut vec: Vec<u8> = Vec::with_capacity(size / 2);
        vec.resize(size / 2, 1);
        vec.reserve_exact(size - size / 2);
        forget(vec)
    };
    alloc_boxed, release_vec, |size| {
        Box::into_raw(vec![1u8; size].into_boxed_slice()) as *mut u8
    };
    alloc_aligned, release_aligned, |size| alloc(layout(size, ALIGNMENT));
    alloc_aligned_zeroed, release_aligned, |size| alloc_zeroed(layout(size, ALIGNMENT));
    alloc_aligned_grown, release_aligned, |size| {
        realloc(alloc(layout(size / 2, ALIGNMENT)), layout(size / 2, ALIGNMENT), size)
    };
    alloc_after_unwinding, release_vec, |size| {
        let text = String::from("a reason that is carried upwards");
        let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(text)));
        assert!(caught.unwrap_err().is::<String>());
        forget(Vec::with_capacity(size))
    };
}

extern "C" {
    fn program_main() -> c_int;
}

/// A thread of Rust's own, beside those of program.c.
fn count_words() {
    let mut words: HashMap<String, Vec<usize>> = HashMap::new();
    for round in 0usize.. {
        words.entry(format!("word {}", round % 50)).or_default().push(round);
        if round % 1000 == 999 {
            assert!(words.values().all(|seen| seen.windows(2).all(|two| two[0] + 50 == two[1])));
            words.clear();
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn main() {
    std::thread::spawn(count_words);
    std::process::exit(unsafe { program_main() })
}
