//! Two functions of the C library `libm`, which the libraries for metrics and progress bars call.
//!
//! Defined here, they spare every start the search for `libm.so` and its mapping: a twentieth of a small build.
#![expect(unsafe_code, reason = "the linker finds functions by their unmangled names")]

#[unsafe(no_mangle)]
extern "C" fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

#[unsafe(no_mangle)]
extern "C" fn log2(x: f64) -> f64 {
    libm::log2(x)
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_compute_what_their_names_say() {
        assert_eq!(super::pow(2.0, 10.0).to_bits(), 1024.0_f64.to_bits());
        assert_eq!(super::log2(1024.0).to_bits(), 10.0_f64.to_bits());
    }
}
