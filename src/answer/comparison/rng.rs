//! A random generator for resampling: small, and the same everywhere.

/// SplitMix64: a counter and a mixing function (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
/// Its period is 2^64; it passes BigCrush.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose numbers depend on the seed alone.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// A generator for one purpose: its numbers depend on the seed and the name.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        SplitMix64(name.as_bytes().iter().fold(seed ^ 0xcbf2_9ce4_8422_2325, fold))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is far below 2^64: the bias is bound / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to 1, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the authors' program with the seed 1234567.
    #[test]
    fn numbers_are_those_of_the_algorithm() {
        let mut rng = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, expected);
    }
}
