//! The custom resources that Flumen serves: Flux's own, as types.
